package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"vault/app/link"
	"vault/modules/auth"
	"vault/modules/catalogue"
	"vault/platform/fault"
	"vault/platform/telemetry"
)

// InstancesConfig says where instances are.
type InstancesConfig struct {
	// URL is the base URL of an instance; "{id}" in it is replaced by the
	// installation's id.
	URL string
	// Ring derives the key of each private link.
	Ring *auth.Ring
	// Transport may be nil for one of its own.
	Transport http.RoundTripper
	Log       *slog.Logger
}

// Instances reaches the instances behind a front.
type Instances struct {
	config InstancesConfig
	client *http.Client

	mu   sync.Mutex
	woke map[int64]time.Time
}

// The patience of the line: how long a sleeping instance is waited for, how
// often it is tried, and how rarely it is woken without need.
const (
	wakeLimit    = 30 * time.Second
	wakePause    = 100 * time.Millisecond
	wakeAgain    = time.Minute
	callLimit    = 90 * time.Second
	maxView      = 64 << 20
	maxIdleConns = 64
)

// NewInstances makes the line to the instances.
func NewInstances(c InstancesConfig) *Instances {
	if c.Transport == nil {
		c.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost: maxIdleConns,
			IdleConnTimeout:     30 * time.Second,
			DisableCompression:  true,
		}
	}
	client := &http.Client{
		Transport:     c.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Instances{config: c, client: client, woke: map[int64]time.Time{}}
}

// Wake asks for the instance in the background, at most once a minute, so
// that it is up by the time the first tool call comes.
func (i *Instances) Wake(ctx context.Context, installation *Installation) {
	i.mu.Lock()
	recent := time.Since(i.woke[installation.ID]) < wakeAgain
	if !recent {
		i.woke[installation.ID] = time.Now()
	}
	i.mu.Unlock()
	if recent {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeLimit)
		defer cancel()
		resp, err := i.send(ctx, installation, http.MethodPost, link.PathWake, nil, nil)
		if err != nil {
			i.config.Log.Info("an instance did not wake", "installation", installation.ID, "error", err)
			return
		}
		_ = resp.Body.Close()
	}()
}

// send asks an instance and waits while none listens.
func (i *Instances) send(ctx context.Context, installation *Installation, method, path string, header http.Header, body []byte) (*http.Response, error) {
	key, err := i.config.Ring.DeriveInstanceKey(installation.ID)
	if err != nil {
		return nil, fmt.Errorf("derive the key of the link: %w", err)
	}
	url := strings.ReplaceAll(i.config.URL, "{id}", fmt.Sprint(installation.ID)) + path
	deadline := time.Now().Add(wakeLimit)
	for {
		req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("ask the instance: %w", err)
		}
		if header != nil {
			req.Header = header.Clone()
		}
		req.Header.Set(auth.LinkHeader, key.Reveal())
		link.SetEpoch(req.Header, installation.Epoch)
		resp, err := i.client.Do(req)
		if err == nil {
			return resp, nil
		}
		if !notListening(err) || time.Now().After(deadline) {
			return nil, fmt.Errorf("ask the instance: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wakePause):
		}
	}
}

// notListening reports an error that proves that the request was not sent:
// only then may any request be sent again.
func notListening(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// View asks the instance to build the view of a set of repositories.
func (i *Instances) View(ctx context.Context, installation *Installation, ids []int64) (catalogue.Built, error) {
	var built catalogue.Built
	body, err := json.Marshal(link.ViewRequest{Repositories: ids})
	if err != nil {
		return built, fmt.Errorf("encode the set: %w", err)
	}
	resp, err := i.send(ctx, installation, http.MethodPost, link.PathView, nil, body)
	if err != nil {
		return built, fault.Unavailable("this installation's server is not up").After(5 * time.Second).Because(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return built, fault.Unavailable("this installation's server has no tool list yet").After(5 * time.Second).
			Because(fmt.Errorf("view: status %d", resp.StatusCode))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxView)).Decode(&built); err != nil {
		return built, fmt.Errorf("decode the view: %w", err)
	}
	return built, nil
}

// passedOn are the request headers an instance gets to see, besides those of
// the protocol that begin with Mcp-.
var passedOn = []string{"Accept", "Content-Type", "User-Agent", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

// Forward sends one MCP message to the instance, with the person's GitHub
// token, and passes its answer back unchanged. An error means that nothing
// was answered yet.
func (i *Instances) Forward(w http.ResponseWriter, r *http.Request, c caller, body []byte) error {
	ctx, cancel := context.WithTimeout(r.Context(), callLimit)
	defer cancel()
	header := http.Header{}
	for _, name := range passedOn {
		if v := r.Header.Values(name); len(v) > 0 {
			header[http.CanonicalHeaderKey(name)] = v
		}
	}
	header.Set("Authorization", "Bearer "+c.token)
	resp, err := i.send(ctx, c.installation, http.MethodPost, link.PathMCP, header, body)
	if err != nil {
		return fault.Unavailable("this installation's server does not answer").After(5 * time.Second).Because(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return fault.Unauthenticated("the sign-in is no longer valid").Fix("sign in again")
	case http.StatusForbidden:
		return fault.Denied("this sign-in reads no repository here").Fix("ask an owner of the organisation for access on GitHub")
	}
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "cut_off")
	}
	return nil
}
