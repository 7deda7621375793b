package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/platform/github"
)

func TestVerifySignature(t *testing.T) {
	t.Parallel()
	// The example of GitHub's documentation.
	const secret = "It's a Secret to Everybody"
	body := []byte("Hello, World!")
	const good = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if err := github.VerifySignature(secret, body, good); err != nil {
		t.Error(err)
	}
	if got := github.Sign(secret, body); got != good {
		t.Errorf("Sign = %s", got)
	}
	tests := map[string]struct{ secret, body, header string }{
		"other body":   {secret, "Hello, World?", good},
		"other secret": {"x", "Hello, World!", good},
		"no secret":    {"", "Hello, World!", github.Sign("", body)},
		"no header":    {secret, "Hello, World!", ""},
		"sha1":         {secret, "Hello, World!", "sha1=757107ea0eb2509fc211221cce984b8a37570b6d"},
		"not hex":      {secret, "Hello, World!", "sha256=" + strings.Repeat("zz", 32)},
		"short":        {secret, "Hello, World!", good[:20]},
		"long":         {secret, "Hello, World!", good + "00"},
	}
	for name, tt := range tests {
		if err := github.VerifySignature(tt.secret, []byte(tt.body), tt.header); !errors.Is(err, github.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const eventRepo = `{"id":3,"node_id":"R_3","name":"kb","full_name":"acme/kb","default_branch":"main","private":true,"owner":{"login":"acme","id":9,"node_id":"O_9"}}`

func TestParseEvent(t *testing.T) {
	t.Parallel()
	acme := github.EventAccount{ID: 9, NodeID: "O_9", Login: "acme"}
	kb := github.EventRepository{ID: 3, NodeID: "R_3", Name: "kb", FullName: "acme/kb", DefaultBranch: "main", Private: true}
	zeros := strings.Repeat("0", 40)
	short := github.EventRepository{ID: 4, NodeID: "R_4", Name: "x", FullName: "acme/x"}
	const shortJSON = `{"id":4,"node_id":"R_4","name":"x","full_name":"acme/x"}`
	const installation = `"installation":{"id":5,"account":{"login":"acme","id":9,"node_id":"O_9"}}`
	tests := []struct {
		name, event, body string
		want              github.Event
	}{
		{
			"push", "push",
			`{"ref":"refs/heads/main","before":"` + oidA + `","after":"` + oidB + `","forced":true,"commits":[{"id":"x","added":["a.md"]}],"repository":` + eventRepo + `,"installation":{"id":5,"node_id":"x"},"sender":{"login":"ada","id":7}}`,
			github.Event{
				Kind: github.KindPush, Installation: 5, Account: acme, Sender: github.EventAccount{ID: 7, Login: "ada"}, Repository: kb,
				Ref: "refs/heads/main", Before: oidA, After: oidB, Forced: true,
			},
		},
		{
			"branch deleted", "push",
			`{"ref":"refs/heads/a/b","before":"` + oidA + `","after":"` + zeros + `","deleted":true,"head_commit":null,"repository":` + eventRepo + `}`,
			github.Event{Kind: github.KindPush, Account: acme, Repository: kb, Ref: "refs/heads/a/b", Before: oidA, After: zeros, Deleted: true},
		},
		{
			"installed", "installation", `{"action":"created",` + installation + `,"repositories":[` + shortJSON + `]}`,
			github.Event{Kind: github.KindInstallation, Action: "created", Installation: 5, Account: acme, AddedRepos: []github.EventRepository{short}},
		},
		{
			"uninstalled", "installation", `{"action":"deleted",` + installation + `,"repositories":[` + shortJSON + `]}`,
			github.Event{Kind: github.KindInstallation, Action: "deleted", Installation: 5, Account: acme, RemovedRepos: []github.EventRepository{short}},
		},
		{
			"repositories", "installation_repositories",
			`{"action":"added",` + installation + `,"repositories_added":[` + shortJSON + `],"repositories_removed":[]}`,
			github.Event{
				Kind: github.KindInstallationRepositories, Action: "added", Installation: 5, Account: acme,
				AddedRepos: []github.EventRepository{short}, RemovedRepos: []github.EventRepository{},
			},
		},
		{
			"account renamed", "installation_target",
			`{"action":"renamed","account":{"login":"acme","id":9,"node_id":"O_9"},"installation":{"id":5},"changes":{"login":{"from":"oldacme"}}}`,
			github.Event{Kind: github.KindInstallationTarget, Action: "renamed", Installation: 5, Account: acme, OldName: "oldacme"},
		},
		{
			"repository renamed", "repository",
			`{"action":"renamed","repository":` + eventRepo + `,"installation":{"id":5},"changes":{"repository":{"name":{"from":"notes"}}}}`,
			github.Event{Kind: github.KindRepository, Action: "renamed", Installation: 5, Account: acme, Repository: kb, OldName: "notes"},
		},
		{
			"default branch", "repository",
			`{"action":"edited","repository":` + eventRepo + `,"installation":{"id":5},"changes":{"default_branch":{"from":"master"}}}`,
			github.Event{Kind: github.KindRepository, Action: "edited", Installation: 5, Account: acme, Repository: kb, OldDefaultBranch: "master"},
		},
		{
			"revoked", "github_app_authorization", `{"action":"revoked","sender":{"login":"ada","id":7,"node_id":"U_7"}}`,
			github.Event{Kind: github.KindAuthorization, Action: "revoked", Sender: github.EventAccount{ID: 7, NodeID: "U_7", Login: "ada"}},
		},
		{"ping", "ping", `{"zen":"Speak like a human.","hook_id":1}`, github.Event{Kind: github.KindPing}},
		{"unknown", "star", `not even JSON`, github.Event{Kind: github.KindOther}},
		{"no name", "", `{}`, github.Event{Kind: github.KindOther}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := github.ParseEvent(tt.event, []byte(tt.body))
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

func TestParseEventRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"not JSON":         {"push", `{`},
		"another type":     {"push", `[]`},
		"no repository":    {"push", `{"ref":"refs/heads/main","before":"` + oidA + `","after":"` + oidB + `"}`},
		"no commit":        {"push", `{"ref":"refs/heads/main","before":"` + oidA + `","after":"x","repository":` + eventRepo + `}`},
		"no installation":  {"installation", `{"action":"created"}`},
		"no sender":        {"github_app_authorization", `{"action":"revoked"}`},
		"no action":        {"repository", `{"repository":` + eventRepo + `}`},
		"number as string": {"installation", `{"action":"created","installation":{"id":"5"}}`},
	}
	for name, tt := range tests {
		if got, err := github.ParseEvent(tt[0], []byte(tt[1])); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := github.ParseEvent("push", make([]byte, github.MaxEvent+1)); !errors.Is(err, github.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

func TestBranch(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{"refs/heads/a/b": "a/b", "refs/tags/v1": "", "": ""} {
		if got := (github.Event{Ref: ref}).Branch(); got != want {
			t.Errorf("%q: %q", ref, got)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add("push", `{"ref":"refs/heads/main","repository":`+eventRepo+`}`)
	f.Add("installation", `{"action":"created","installation":{"id":5}}`)
	f.Fuzz(func(t *testing.T, name, body string) {
		e, err := github.ParseEvent(name, []byte(body))
		if err != nil && !cmp.Equal(e, github.Event{}) {
			t.Errorf("an error and %+v", e)
		}
	})
}
