package jobs

import (
	"testing"
	"time"
)

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second,
		9: 256 * time.Second, 10: 5 * time.Minute, 25: 5 * time.Minute, 1000: 5 * time.Minute,
	} {
		if got := pauseAfter(failures); got != want {
			t.Errorf("pause after %d failures = %s, want %s", failures, got, want)
		}
	}
	var all time.Duration
	for n := 1; n < maxAttempts; n++ {
		all += pauseAfter(n)
	}
	if all < time.Hour {
		t.Errorf("a job is given up after %s", all)
	}
}
