package localhub

import (
	"fmt"
	"strings"
	"time"
)

// object is a JSON object of GitHub's REST API or webhooks.
type object = map[string]any

// api is an address of the REST API.
func (h *Hub) api(format string, args ...any) string {
	return h.base.String() + fmt.Sprintf(format, args...)
}

// stamp is GitHub's time format.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ownerShape is what accounts of all kinds have in common.
func (h *Hub) ownerShape(kind, prefix string, id int64, login string) object {
	user := h.api("/users/%s", login)
	return object{
		"login": login, "id": id, "node_id": nodeID(prefix, id),
		"avatar_url": h.api("/avatars/%d", id), "gravatar_id": "",
		"url": user, "html_url": h.api("/%s", login),
		"followers_url": user + "/followers", "following_url": user + "/following{/other_user}",
		"gists_url": user + "/gists{/gist_id}", "starred_url": user + "/starred{/owner}{/repo}",
		"subscriptions_url": user + "/subscriptions", "organizations_url": user + "/orgs",
		"repos_url": user + "/repos", "events_url": user + "/events{/privacy}",
		"received_events_url": user + "/received_events",
		"type":                kind, "site_admin": false,
	}
}

func (h *Hub) userShape(p personState) object {
	return h.ownerShape("User", nodeUser, p.ID, p.Login)
}

func (h *Hub) accountShape() object {
	return h.ownerShape("Organization", nodeOrganization, h.state.AccountID, h.config.Account)
}

// organizationShape is the organisation as webhooks carry it.
func (h *Hub) organizationShape() object {
	org := h.api("/orgs/%s", h.config.Account)
	return object{
		"login": h.config.Account, "id": h.state.AccountID, "node_id": nodeID(nodeOrganization, h.state.AccountID),
		"url": org, "repos_url": org + "/repos", "events_url": org + "/events", "hooks_url": org + "/hooks",
		"issues_url": org + "/issues", "members_url": org + "/members{/member}",
		"public_members_url": org + "/public_members{/member}",
		"avatar_url":         h.api("/avatars/%d", h.state.AccountID), "description": "",
	}
}

// personShape is a person as GET /user shows them to themselves.
func (h *Hub) personShape(p personState) object {
	o := h.userShape(p)
	for _, key := range []string{"bio", "company", "location", "hireable", "twitter_username"} {
		o[key] = nil
	}
	for _, key := range []string{
		"followers", "following", "public_gists", "public_repos", "collaborators", "disk_usage",
		"owned_private_repos", "private_gists", "total_private_repos",
	} {
		o[key] = 0
	}
	o["blog"], o["name"], o["email"] = "", p.Name, p.Email
	o["two_factor_authentication"] = true
	o["created_at"], o["updated_at"] = stamp(h.state.App.CreatedAt), stamp(h.state.App.CreatedAt)
	return o
}

// appPermissions are what the App was granted on the account.
func appPermissions() map[string]string {
	return map[string]string{"contents": "write", "metadata": "read"}
}

func appEvents() []string { return []string{"push", "repository"} }

const appSlug = "vault-local"

func (h *Hub) appShape() object {
	return object{
		"id": h.app.ID, "slug": appSlug, "node_id": nodeID(nodeApp, h.app.ID), "client_id": h.app.ClientID,
		"owner": h.accountShape(), "name": appSlug, "description": "", "external_url": h.base.String(),
		"html_url":   h.api("/apps/%s", appSlug),
		"created_at": stamp(h.state.App.CreatedAt), "updated_at": stamp(h.state.App.CreatedAt),
		"permissions": appPermissions(), "events": appEvents(), "installations_count": 1,
	}
}

func (h *Hub) installationShape() object {
	i := h.state.Installation
	return object{
		"id": i.ID, "client_id": h.app.ClientID, "account": h.accountShape(), "repository_selection": "selected",
		"access_tokens_url": h.api("/app/installations/%d/access_tokens", i.ID),
		"repositories_url":  h.api("/installation/repositories"),
		"html_url":          h.api("/organizations/%s/settings/installations/%d", h.config.Account, i.ID),
		"app_id":            h.app.ID, "app_slug": appSlug, "target_id": h.state.AccountID, "target_type": "Organization",
		"permissions": appPermissions(), "events": appEvents(),
		"created_at": stamp(i.CreatedAt), "updated_at": stamp(i.UpdatedAt),
		"single_file_name": nil, "has_multiple_single_files": false, "single_file_paths": []string{},
		"suspended_by": nil, "suspended_at": nil,
	}
}

// repositoryLinks are the members of a repository that are its address and
// something after it, each as "name suffix".
const repositoryLinks = `forks_url /forks
keys_url /keys{/key_id}
collaborators_url /collaborators{/collaborator}
teams_url /teams
hooks_url /hooks
issue_events_url /issues/events{/number}
events_url /events
assignees_url /assignees{/user}
branches_url /branches{/branch}
tags_url /tags
blobs_url /git/blobs{/sha}
git_tags_url /git/tags{/sha}
git_refs_url /git/refs{/sha}
trees_url /git/trees{/sha}
statuses_url /statuses/{sha}
languages_url /languages
stargazers_url /stargazers
contributors_url /contributors
subscribers_url /subscribers
subscription_url /subscription
commits_url /commits{/sha}
git_commits_url /git/commits{/sha}
comments_url /comments{/number}
issue_comment_url /issues/comments{/number}
contents_url /contents/{+path}
compare_url /compare/{base}...{head}
merges_url /merges
archive_url /{archive_format}{/ref}
downloads_url /downloads
issues_url /issues{/number}
pulls_url /pulls{/number}
milestones_url /milestones{/number}
notifications_url /notifications{?since,all,participating}
labels_url /labels{/name}
releases_url /releases{/id}
deployments_url /deployments`

// repositoryShape is a repository as lists and webhooks show it.
func (h *Hub) repositoryShape(v repoView) object {
	self, web := h.api("/repos/%s", v.fullName), h.api("/%s", v.fullName)
	o := object{
		"id": v.ID, "node_id": nodeID(nodeRepository, v.ID), "name": v.Name, "full_name": v.fullName,
		"private": true, "visibility": "private", "owner": h.accountShape(),
		"html_url": web, "url": self, "description": nil, "fork": false, "default_branch": v.Branch,
		"git_url": "git://" + h.base.Host + "/" + v.fullName + ".git", "ssh_url": "git@" + h.base.Hostname() + ":" + v.fullName + ".git",
		"clone_url": web + ".git", "svn_url": web,
		"homepage": nil, "language": nil, "mirror_url": nil, "license": nil,
		"archived": v.Archived, "disabled": false, "is_template": false, "topics": []string{},
		"web_commit_signoff_required": false, "allow_forking": false, "custom_properties": object{},
		"created_at": stamp(v.Created), "updated_at": stamp(v.Updated), "pushed_at": stamp(v.Pushed),
	}
	for _, name := range []string{
		"size", "stargazers_count", "watchers_count", "forks_count", "open_issues_count", "forks", "open_issues", "watchers",
	} {
		o[name] = 0
	}
	for _, name := range []string{"issues", "projects", "downloads", "wiki", "pages", "discussions"} {
		o["has_"+name] = false
	}
	for line := range strings.Lines(repositoryLinks) {
		name, suffix, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		o[name] = self + suffix
	}
	return o
}

// listedShape adds what depends on who asks.
func (h *Hub) listedShape(v repoView) object {
	o := h.repositoryShape(v)
	o["permissions"] = v.permission.flags()
	return o
}

// briefShape is a repository in the lists of installation webhooks.
func (h *Hub) briefShape(r repoState) object {
	return object{
		"id": r.ID, "node_id": nodeID(nodeRepository, r.ID), "name": r.Name,
		"full_name": h.config.Account + "/" + r.Name, "private": true,
	}
}
