package auth

import (
	"log/slog"
	"testing"
	"time"
)

func TestAnEntryIsAskedForAgainByOneAndNotTooSoon(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := &Service{cfg: Config{Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}}
	e := &entry{refresh: now, until: now.Add(time.Hour)}
	if e.due(now.Add(-time.Second)) {
		t.Error("due before its time")
	}
	if !e.due(now) || e.due(now) {
		t.Error("not due for exactly one caller")
	}
	s.keep(t.Context(), e, &verdict{retry: now.Add(100 * time.Second)})
	if e.due(now.Add(99*time.Second)) || !e.due(now.Add(100*time.Second)) {
		t.Error("GitHub's wait is not kept")
	}
	s.keep(t.Context(), e, &verdict{retry: now.Add(time.Second)})
	if e.due(now.Add(29*time.Second)) || !e.due(now.Add(30*time.Second)) {
		t.Error("asked again within half a minute")
	}
	if (&entry{verdict: &verdict{}, refresh: now, until: now.Add(time.Hour)}).due(now) {
		t.Error("a refusal is asked for again ahead of its end")
	}
}
