package git

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// FetchOptions say what Fetch brings from where.
type FetchOptions struct {
	// URL is an https address, or an http one below Options.AllowHTTP.
	URL string
	// Token is sent as the password of x-access-token; "" sends none. It
	// travels in the environment, never in an argument.
	Token string
	// Refspecs are full, as in "+refs/heads/main:refs/heads/main"; or all of
	// them are object ids, which brings objects that a filter left out.
	Refspecs []string
	// Filter leaves objects out, as in "blob:limit=1m"; "" leaves out none.
	Filter string
	// Depth cuts the history off after so many commits; 0 does not.
	Depth int
	// Prune deletes local refs below the refspecs that the other side has not.
	Prune bool
}

// Fetch brings objects and refs into a repository made by InitBare. A
// repository with settings of other origin is refused (ErrRefused), since
// they could send the token elsewhere. ErrNotFound says that the other side
// has no such repository, ref or object; ErrUnauthorized and ErrRedirected
// speak for themselves.
//
// Redirects are not followed at all: after a redirect of the first request git
// sends all later ones, token included, to the new address.
func (repo *Repo) Fetch(ctx context.Context, o FetchOptions) error {
	protocol, err := repo.run.checkURL(o.URL)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := repo.checkSettings(ctx); err != nil {
		return err
	}
	if protocol == "http" && o.Depth == 0 && !o.objects() {
		o.Depth = wholeHistory
	}
	partial := repo.isPartial()
	if o.Filter == "" && partial && o.objects() {
		// What a missing object refers to would come along, missing or not.
		o.Filter = "blob:none"
	}
	c := repo.in(call{
		args:     o.args(),
		protocol: protocol,
		config:   append(fetchSettings(o), partialSettings(o.Filter, partial)...),
		feed:     func(in io.Writer) error { return writeLines(in, o.Refspecs) },
		time:     repo.run.limits.long,
		secrets:  secrets(o.Token),
	})
	return repo.fetch(ctx, c, o.URL)
}

// wholeHistory is the depth that git takes for all there is. The local hub
// serves folders whose history may be cut off, which is said before the
// objects come only to who gives a depth. Otherwise git takes the parents for
// objects that the filter left out, and every attempt to fetch them starts
// the next one, without end.
const wholeHistory = 1<<31 - 1

func (o FetchOptions) args() []string {
	args := []string{
		"fetch", "--quiet", "--no-progress", "--no-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", "--no-auto-maintenance", "--stdin",
	}
	if o.Prune {
		args = append(args, "--prune")
	}
	if o.Filter != "" {
		args = append(args, "--filter="+o.Filter)
	}
	if o.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(o.Depth))
	}
	return append(args, "--end-of-options", "origin")
}

var (
	refspecForm = regexp.MustCompile(`^(\+?refs/[^\s:+^]+(:refs/[^\s:+^]+)?|[0-9a-f]{40}|[0-9a-f]{64})$`)
	filterForm  = regexp.MustCompile(`^(blob:none|blob:limit=[0-9]+[kmg]?|tree:[0-9]+)$`)
)

// objects reports whether object ids are asked for rather than refs.
func (o FetchOptions) objects() bool {
	return !slices.ContainsFunc(o.Refspecs, func(spec string) bool { return !OID(spec).Valid() })
}

func (o FetchOptions) check() error {
	if len(o.Refspecs) == 0 {
		return fmt.Errorf("fetch without a refspec: %w", ErrRefused)
	}
	for _, spec := range o.Refspecs {
		if !refspecForm.MatchString(spec) {
			return fmt.Errorf("refspec %.200q: %w", spec, ErrRefused)
		}
	}
	if o.Filter != "" && !filterForm.MatchString(o.Filter) {
		return fmt.Errorf("filter %.200q: %w", o.Filter, ErrRefused)
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("a token with blanks or control characters: %w", ErrRefused)
	}
	return nil
}

// checkURL gives the transport that an address needs, if it may be used.
func (r *Runner) checkURL(address string) (protocol string, err error) {
	u, err := url.Parse(address)
	if err != nil || strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("fetch from %.200q: no address: %w", address, ErrRefused)
	}
	plain := u.User == nil && u.RawQuery == "" && u.Fragment == "" && u.Opaque == "" && u.Host != "" &&
		u.RawPath == "" && path.Clean(u.Path) == u.Path
	switch {
	case !plain:
		return "", fmt.Errorf("fetch from %.200q: only scheme, host and path may be given: %w", u.Redacted(), ErrRefused)
	case u.Scheme == "https", u.Scheme == "http" && r.allowed(u):
		return u.Scheme, nil
	}
	return "", fmt.Errorf("fetch from %.200q: only https, and http to the configured hub: %w", address, ErrRefused)
}

func (r *Runner) allowed(u *url.URL) bool {
	for _, base := range r.allow {
		b, err := url.Parse(base)
		if err != nil || b.Scheme != "http" || !strings.EqualFold(b.Host, u.Host) {
			continue
		}
		if strings.HasPrefix(u.Path, strings.TrimSuffix(b.Path, "/")+"/") {
			return true
		}
	}
	return false
}

// ownSettings are the keys that InitBare leaves behind.
var ownSettings = regexp.MustCompile(`^(core\.(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks)` +
	`|extensions\.objectformat)$`)

// checkSettings refuses a repository with settings that are not ours, such as
// url.insteadOf or http.proxy, which no later value can take back.
func (repo *Repo) checkSettings(ctx context.Context) error {
	config, err := repo.run.readConfig(ctx, Folder{GitDir: repo.dir, CommonDir: repo.dir})
	if err != nil {
		return err
	}
	for key := range config {
		if key != "" && !ownSettings.MatchString(key) {
			return fmt.Errorf("fetch into a repository with the setting %.200q: %w", key, ErrRefused)
		}
	}
	return nil
}

func fetchSettings(o FetchOptions) []setting {
	list := append(fsckSettings("fetch"), []setting{
		{"remote.origin.url", o.URL},
		{"protocol.version", "2"},
		{"http.followRedirects", "false"},
		{"http.proxy", ""},
		{"http.sslVerify", "true"},
		{"http.lowSpeedLimit", "1000"},
		{"http.lowSpeedTime", "60"},
		{"http.saveCookies", "false"},
	}...)
	if o.objects() {
		// The other side believes that who has a commit has its files.
		list = append(list, setting{"fetch.negotiationAlgorithm", "noop"})
	}
	if o.Token != "" {
		list = append(list, setting{"http." + o.URL + ".extraHeader", "Authorization: Basic " + basic(o.Token)})
	}
	return list
}

// isPartial reports whether an earlier fetch left objects out.
func (repo *Repo) isPartial() bool {
	packs, _ := filepath.Glob(filepath.Join(repo.dir, "objects", "pack", "*.promisor"))
	return len(packs) > 0
}

// partialSettings say that the other side keeps what is left out here. They
// are given for each fetch and stand in no file: where git finds them there,
// every read of a missing object dies in an attempt to fetch it.
func partialSettings(filter string, partial bool) []setting {
	if filter == "" && !partial {
		return nil
	}
	list := []setting{{"remote.origin.promisor", "true"}}
	if filter != "" {
		list = append(list, setting{"remote.origin.partialclonefilter", filter})
	}
	return list
}

func basic(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}

func secrets(token string) []string {
	if token == "" {
		return nil
	}
	return []string{token, basic(token)}
}

func writeLines(in io.Writer, lines []string) error {
	_, err := io.WriteString(in, strings.Join(lines, "\n")+"\n")
	return err
}
