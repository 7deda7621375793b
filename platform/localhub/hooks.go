package localhub

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// maxQueue bounds deliveries that wait, maxLog those that are remembered.
	maxQueue = 1000
	maxLog   = 500
	// maxPayload is GitHub's limit; what is larger is not sent.
	maxPayload = 25 << 20
	// maxKept is the largest payload that is remembered after delivery.
	maxKept = 256 << 10
	// deliveryTimeout is how long GitHub waits for an answer.
	deliveryTimeout = 10 * time.Second
	// connectPatience is how long a delivery whose receiver cannot be reached
	// is tried again. GitHub would give up at once; here the receiver may be
	// starting beside the hub.
	connectPatience = 30 * time.Second
	maxPause        = 2 * time.Second
)

// Delivery is one webhook that was sent, is being sent, or waits.
type Delivery struct {
	ID           int64
	GUID         string
	Event        string
	Action       string
	RepositoryID int64
	// At is when it was last tried, or made if it was not tried yet.
	At time.Time
	// Status is "pending", "OK" or what went wrong.
	Status     string
	StatusCode int
	Duration   time.Duration
	Redelivery bool
	Payload    []byte
}

// hooks sends webhooks one after the other, in the order of what they tell.
type hooks struct {
	url    string
	app    AppInfo
	hookID int64
	log    *slog.Logger
	client *http.Client

	mu      sync.Mutex
	nextID  int64
	queue   []*Delivery
	history []*Delivery
	wake    chan struct{}
}

func newHooks(c Config, app AppInfo, hookID int64) *hooks {
	return &hooks{
		url: c.WebhookURL, app: app, hookID: hookID, log: c.Log,
		client: &http.Client{
			Timeout:       deliveryTimeout,
			Transport:     &http.Transport{IdleConnTimeout: time.Minute}, // no proxy: the receiver is on this machine
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wake: make(chan struct{}, 1),
	}
}

// send queues an event.
func (k *hooks) send(event, action string, repo int64, payload map[string]any) error {
	if k.url == "" {
		return nil
	}
	if action != "" {
		payload["action"] = action
	}
	body, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encode webhook %s: %w", event, err)
	}
	if len(body) > maxPayload {
		k.log.Warn("webhook not sent: it is too large", "event", event, "bytes", len(body))
		return nil
	}
	k.enqueue(&Delivery{GUID: newGUID(), Event: event, Action: action, RepositoryID: repo, Payload: body})
	return nil
}

func (k *hooks) enqueue(d *Delivery) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nextID++
	d.ID, d.At, d.Status = k.nextID, time.Now(), "pending"
	if k.history = append(k.history, d); len(k.history) > maxLog {
		k.history = slices.Delete(k.history, 0, len(k.history)-maxLog)
	}
	if len(k.queue) >= maxQueue {
		d.Status = "the queue is full"
		k.log.Error("webhook dropped: the queue is full", "event", d.Event)
		return
	}
	k.queue = append(k.queue, d)
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run delivers until ctx ends. What still waits then is lost, as it would be
// with a receiver that is down.
func (k *hooks) run(ctx context.Context) {
	defer k.client.CloseIdleConnections()
	for {
		d, ok := k.next()
		if ok {
			k.deliver(ctx, d)
		}
		if ctx.Err() != nil {
			return
		}
		if ok {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		}
	}
}

func (k *hooks) next() (*Delivery, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queue) == 0 {
		return nil, false
	}
	d := k.queue[0]
	k.queue = slices.Delete(k.queue, 0, 1)
	return d, true
}

// deliver sends one webhook, again and again while its receiver cannot be
// reached, up to connectPatience.
func (k *hooks) deliver(ctx context.Context, d *Delivery) {
	began := time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, maxPause) {
		tried := time.Now()
		status, err := k.post(ctx, d)
		k.mu.Lock()
		d.At, d.Duration, d.StatusCode = tried, time.Since(tried), status
		d.Status = outcomeOf(status, err)
		if err == nil && len(d.Payload) > maxKept {
			d.Payload = nil
		}
		k.mu.Unlock()
		if err == nil || ctx.Err() != nil {
			return
		}
		if time.Since(began)+pause > connectPatience {
			k.log.Warn("webhook not delivered", "event", d.Event, "delivery", d.GUID, "error", err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func outcomeOf(status int, err error) string {
	switch {
	case err != nil:
		return "failed to connect to host"
	case status >= 200 && status < 300:
		return "OK"
	}
	return "Invalid HTTP Response: " + strconv.Itoa(status)
}

// post makes one attempt. Any answer counts as delivered, and so does an
// answer that does not come in time: the receiver may have acted on it.
func (k *hooks) post(ctx context.Context, d *Delivery) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url, bytes.NewReader(d.Payload))
	if err != nil {
		return 0, err
	}
	mac := hmac.New(sha256.New, []byte(k.app.WebhookSecret))
	mac.Write(d.Payload)
	for name, value := range map[string]string{
		"Content-Type":                           "application/json",
		"User-Agent":                             "GitHub-Hookshot/local",
		"X-GitHub-Event":                         d.Event,
		"X-GitHub-Delivery":                      d.GUID,
		"X-GitHub-Hook-ID":                       strconv.FormatInt(k.hookID, 10),
		"X-GitHub-Hook-Installation-Target-Type": "integration",
		"X-GitHub-Hook-Installation-Target-ID":   strconv.FormatInt(k.app.ID, 10),
		"X-Hub-Signature-256":                    "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		req.Header.Set(name, value)
	}
	resp, err := k.client.Do(req)
	if isTimeout(err) {
		return http.StatusGatewayTimeout, nil
	}
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	return resp.StatusCode, nil
}

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

// Deliveries lists the webhooks that are remembered, newest first.
func (h *Hub) Deliveries() []Delivery {
	h.hooks.mu.Lock()
	defer h.hooks.mu.Unlock()
	out := make([]Delivery, 0, len(h.hooks.history))
	for _, d := range slices.Backward(h.hooks.history) {
		out = append(out, *d)
	}
	return out
}

// redeliver queues a remembered webhook again, under the same GUID.
func (k *hooks) redeliver(id int64) bool {
	k.mu.Lock()
	i := slices.IndexFunc(k.history, func(d *Delivery) bool { return d.ID == id })
	var again Delivery
	if i >= 0 {
		again = *k.history[i]
	}
	k.mu.Unlock()
	if again.Payload == nil {
		return false
	}
	again.Redelivery, again.StatusCode, again.Duration = true, 0, 0
	k.enqueue(&again)
	return true
}
