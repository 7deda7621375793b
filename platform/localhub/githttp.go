package localhub

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"vault/platform/git"
)

// gitServices are the ends of the addresses that git's smart protocol uses.
var gitServices = []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"}

// isGitPath tells addresses of git clients from those of the REST API.
func isGitPath(path string) bool {
	_, _, _, ok := splitGitPath(path)
	return ok
}

// splitGitPath takes /{owner}/{repo}[.git]/{service} apart.
func splitGitPath(path string) (owner, name, service string, ok bool) {
	for _, service := range gitServices {
		rest, found := strings.CutSuffix(path, service)
		if !found {
			continue
		}
		parts := strings.Split(rest, "/")
		if len(parts) != 3 || parts[0] != "" || parts[1] == "" {
			return "", "", "", false
		}
		return parts[1], strings.TrimSuffix(parts[2], ".git"), service, true
	}
	return "", "", "", false
}

// serveGit answers a git client: 401 without a good credential, 404 for what
// the caller may not see, 403 for a push that is not allowed.
func (h *Hub) serveGit(w http.ResponseWriter, r *http.Request) {
	owner, name, service, _ := splitGitPath(r.URL.Path)
	cred, err := h.authenticate(r)
	if err != nil || cred.holder == holderNobody || cred.holder == holderApp {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		gitRefusal(w, http.StatusUnauthorized, "Invalid username or token. Password authentication is not supported for Git operations.")
		return
	}
	v, err := h.find(cred, owner, name)
	var moved errMoved
	switch {
	case errors.As(err, &moved):
		target := h.api("/%s.git%s", moved.to.fullName, service)
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, target, http.StatusMovedPermanently)
		return
	case err != nil, !cred.readsContents():
		gitRefusal(w, http.StatusNotFound, "Repository not found.")
		return
	}
	push := service == "/git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
	if push {
		if refusal := pushRefusal(v, cred); refusal != "" {
			gitRefusal(w, http.StatusForbidden, refusal)
			return
		}
	}
	v.git.ServeHTTP(w, r, git.ServeOptions{
		Push:      push,
		AfterPush: func(ctx context.Context) { h.afterPush(ctx, v.repo, h.pusher(cred)) },
	})
}

// gitRefusal answers in plain text, which git shows its user.
func gitRefusal(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// pushRefusal says why a caller may not push, "" if it may.
func pushRefusal(v repoView, cred credential) string {
	switch {
	case v.Folder != "":
		return "This repository is served from a folder on this machine. Commit in the folder instead of pushing here."
	case v.Archived:
		return "This repository was archived so it is read-only."
	case v.permission < permissionWrite:
		return "Permission to " + v.fullName + ".git denied to " + pusherName(cred) + "."
	}
	return ""
}

func pusherName(cred credential) string {
	if cred.holder == holderPerson {
		return cred.person.Login
	}
	return appSlug + "[bot]"
}

// pusher is the account that a push event names.
func (h *Hub) pusher(cred credential) personState {
	if cred.holder == holderPerson {
		return cred.person
	}
	return h.bot()
}

// bot is the account that the App acts as.
func (h *Hub) bot() personState {
	login := appSlug + "[bot]"
	return personState{ID: h.state.App.BotID, Login: login, Name: login, Email: login + "@users.noreply.github.com"}
}

// afterPush tells of what a push moved.
func (h *Hub) afterPush(ctx context.Context, r *repository, pusher personState) {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	r.moving.Lock()
	defer r.moving.Unlock()
	if err := h.tellPushes(ctx, r, pusher); err != nil {
		h.log.Error("a push cannot be told of", "repository", r.id, "error", err)
	}
}
