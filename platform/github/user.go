package github

// UserClient speaks as one person, with the person's own token. It is made
// for a piece of work and thrown away.
type UserClient struct {
	client *client
}

// NewUser makes the client that carries a person's token.
func NewUser(cfg Config, token string) *UserClient {
	return &UserClient{client: newClient(cfg, fixed(token))}
}
