package github

import (
	"context"

	gogithub "github.com/google/go-github/v66/github"
)

// InstallationClient speaks as one installation, with a token from
// App.InstallationToken. It is made for a piece of work and thrown away, since
// the token ends within the hour.
type InstallationClient struct {
	client *client
}

// NewInstallation makes the client that carries an installation token.
func NewInstallation(cfg Config, token string) *InstallationClient {
	return &InstallationClient{client: newClient(cfg, fixed(token))}
}

// Repository is one repository as the installation sees it. ID and NodeID
// survive a rename and a transfer, the names do not.
type Repository struct {
	ID            int64
	NodeID        string
	Name          string
	FullName      string
	DefaultBranch string
	Private       bool
	Archived      bool
}

// Repositories lists what the token reaches, at most 10,000 repositories.
func (i *InstallationClient) Repositories(ctx context.Context) ([]Repository, error) {
	const op = "list repositories of the installation"
	var out []Repository
	err := pages(op, func(options *gogithub.ListOptions) (int, error) {
		var next int
		err := i.client.rest(ctx, call{op: op, read: true}, func(ctx context.Context, gh *gogithub.Client) error {
			list, resp, err := gh.Apps.ListRepos(ctx, options)
			if err != nil {
				return err
			}
			for _, r := range list.Repositories {
				out = append(out, repositoryOf(r))
			}
			next = resp.NextPage
			return nil
		})
		return next, err
	})
	return out, err
}

func repositoryOf(r *gogithub.Repository) Repository {
	return Repository{
		ID:            r.GetID(),
		NodeID:        r.GetNodeID(),
		Name:          r.GetName(),
		FullName:      r.GetFullName(),
		DefaultBranch: r.GetDefaultBranch(),
		Private:       r.GetPrivate(),
		Archived:      r.GetArchived(),
	}
}
