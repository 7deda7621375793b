package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Admin does one of the local GitHub's admin acts and decodes its answer into
// out, which may be nil.
func (r Ready) Admin(method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, r.Hub+"/admin/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+r.HubAdmin)
	req.Header.Set("User-Agent", "vault-tests")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// GitHubToken gives a GitHub token of a person, for git and the local GitHub's
// own interfaces.
func (r Ready) GitHubToken(login string) (string, error) {
	var out struct{ Token string }
	err := r.Admin(http.MethodPost, "tokens", map[string]string{"login": login}, &out)
	return out.Token, err
}

// CloneURL is the git address of a repository for a person's token.
func (r Ready) CloneURL(account, repository, token string) string {
	return strings.Replace(r.Hub, "://", "://x-access-token:"+token+"@", 1) + "/" + account + "/" + repository + ".git"
}
