package telemetry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"vault/platform/telemetry"
)

func TestEventMakesOneLineAndItsMetrics(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := telemetry.NewLogger(&out, telemetry.LogConfig{Format: "json", Level: "info"})
	if err != nil {
		t.Fatal(err)
	}
	r := telemetry.NewRecorder(log)
	ctx, event := r.Begin(t.Context(), "mcp")
	telemetry.Add(ctx, telemetry.KeyTool, "read_note")
	telemetry.Add(ctx, telemetry.KeyOutcome, "not_found")
	telemetry.Add(ctx, "person", 7)
	event.End()
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("not one line of JSON: %v: %s", err, out.String())
	}
	if line["msg"] != "mcp" || line["tool"] != "read_note" || line["outcome"] != "not_found" || line["person"] != 7.0 {
		t.Errorf("line %v", line)
	}
	w := httptest.NewRecorder()
	r.Metrics().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	want := `vault_events_total{event="mcp",outcome="not_found",tool="read_note"} 1`
	if !strings.Contains(w.Body.String(), want) {
		t.Errorf("metrics lack %s", want)
	}
	telemetry.Add(t.Context(), "ignored", 1)
}

func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, _ := telemetry.NewLogger(&out, telemetry.LogConfig{Format: "json", Level: "debug"})
	s := telemetry.Secret("ghu_1234")
	log.Info("x", "a", s, "b", struct{ S telemetry.Secret }{s})
	all := out.String() + fmt.Sprintf("%v %s %q %+v %#v", s, s, s, s, s)
	if strings.Contains(all, "1234") {
		t.Errorf("a secret shows in %s", all)
	}
}

func TestBadLogConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []telemetry.LogConfig{{Format: "xml", Level: "info"}, {Format: "json", Level: "loud"}} {
		if _, err := telemetry.NewLogger(nil, c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
