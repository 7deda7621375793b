package front

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"regexp"

	"vault/modules/installations"
	"vault/platform/fault"
	"vault/platform/github"
	"vault/platform/telemetry"
)

// maxWebhook is the largest delivery: GitHub sends none above 25 MB.
const maxWebhook = 25 << 20

// Deliveries keeps what a delivery says, in one transaction, with the job it
// asks for.
type Deliveries interface {
	RecordDelivery(ctx context.Context, d installations.Delivery) (fresh bool, err error)
}

// Webhook takes GitHub's deliveries. It answers as soon as the delivery is
// kept; the work is a job's. An error makes GitHub show the delivery as
// failed, and the daily reconciliation heals what it said.
type Webhook struct {
	// Secret is what GitHub signs deliveries with.
	Secret     github.Secret
	Deliveries Deliveries
	Log        *slog.Logger
}

// guid is the form of a delivery's id.
var guid = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// ServeHTTP answers POST /webhook.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "A delivery is application/json.", http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			http.Error(w, "The delivery is too large.", http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "The delivery could not be read.", http.StatusBadRequest)
		return
	}
	if err := github.VerifySignature(h.Secret.Reveal(), body, r.Header.Get("X-Hub-Signature-256")); err != nil {
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "bad_signature")
		http.Error(w, "The signature is missing or wrong.", http.StatusUnauthorized)
		return
	}
	id := r.Header.Get("X-GitHub-Delivery")
	event, err := github.ParseEvent(r.Header.Get("X-GitHub-Event"), body)
	if err != nil || !guid.MatchString(id) {
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "bad_request")
		http.Error(w, "The delivery is not one of GitHub's.", http.StatusBadRequest)
		return
	}
	h.keep(w, r, id, event)
}

// keep records a delivery.
func (h *Webhook) keep(w http.ResponseWriter, r *http.Request, id string, event github.Event) {
	telemetry.Add(r.Context(), "event", string(event.Kind))
	telemetry.Add(r.Context(), "installation", event.Installation)
	if event.Kind == github.KindOther || event.Kind == github.KindPing {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	d := installations.Delivery{
		GUID:         id,
		Event:        string(event.Kind),
		Action:       event.Action,
		Installation: event.Installation,
		Account:      event.Account.Login,
		Repository:   event.Repository.ID,
		Branch:       event.Branch(),
	}
	for _, gone := range event.RemovedRepos {
		d.Gone = append(d.Gone, gone.ID)
	}
	fresh, err := h.Deliveries.RecordDelivery(r.Context(), d)
	if err != nil {
		reference := fault.NewReference()
		telemetry.Add(r.Context(), telemetry.KeyOutcome, "error")
		h.Log.Error("a delivery could not be kept", "reference", reference, "delivery", id, "error", err)
		http.Error(w, "The delivery could not be kept. Reference: "+reference+".", http.StatusInternalServerError)
		return
	}
	telemetry.Add(r.Context(), "fresh", fresh)
	w.WriteHeader(http.StatusAccepted)
}

// PostOnly refuses every other method.
func PostOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "This address takes POST only.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}
