package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/tool"
	"vault/platform/mcp"
)

func specOf(schema string) mcp.Tool { return mcp.Tool{Name: "t", Input: json.RawMessage(schema)} }

func nothing(context.Context, *tool.Call) (any, error) { return struct{}{}, nil }

type wideInput struct {
	Path     string  `json:"path"`
	Repo     string  `json:"repo"`
	Limit    int     `json:"limit"`
	Regex    bool    `json:"regex"`
	FromLine *int64  `json:"from_line"`
	Heading  *string `json:"heading"`
}

func TestRunDecodesAndEncodes(t *testing.T) {
	t.Parallel()
	var got wideInput
	c := compile(t, wide, func(_ context.Context, call *tool.Call) (any, error) {
		var err error
		if got, err = tool.Decode[wideInput](call); err != nil {
			return nil, err
		}
		return tool.Result{Data: map[string]string{"x": "<a> & é"}, Meta: map[string]any{"vault/head": "h"}}, nil
	})
	answer, err := c.Run(t.Context(), tool.Call{ClientName: "c"}, json.RawMessage(`{"path":"p","repo":"a","from_line":9007199254740991}`), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	line := int64(9007199254740991)
	if diff := cmp.Diff(wideInput{Path: "p", Repo: "a", Limit: 50, FromLine: &line}, got); diff != "" {
		t.Error(diff)
	}
	want := &mcp.Answer{Structured: json.RawMessage(`{"x":"<a> & é"}`), Meta: map[string]any{"vault/head": "h"}}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
}

func TestRunPassesErrorsOn(t *testing.T) {
	t.Parallel()
	sentinel := errors.New("sentinel")
	ran := false
	c := compile(t, wide, func(context.Context, *tool.Call) (any, error) { ran = true; return nil, sentinel })
	if _, err := c.Run(t.Context(), tool.Call{}, json.RawMessage(`{}`), nil); err == nil || ran {
		t.Errorf("bad arguments: %v, ran %v", err, ran)
	}
	if _, err := c.Run(t.Context(), tool.Call{}, json.RawMessage(`{"path":"p","repo":"a"}`), []string{"a"}); !errors.Is(err, sentinel) {
		t.Errorf("got %v", err)
	}
}

func TestDecodeNeedsEveryArgument(t *testing.T) {
	t.Parallel()
	c := compile(t, wide, func(_ context.Context, call *tool.Call) (any, error) {
		return tool.Decode[struct {
			Path string `json:"path"`
		}](call)
	})
	if _, err := c.Run(t.Context(), tool.Call{}, json.RawMessage(`{"path":"p","repo":"a"}`), []string{"a"}); err == nil {
		t.Error("a struct that lacks arguments was filled")
	}
}

func TestRunRefusesHugeAnswers(t *testing.T) {
	t.Parallel()
	size := 0
	c := compile(t, `{"type":"object"}`, func(context.Context, *tool.Call) (any, error) {
		return map[string]string{"x": strings.Repeat("a", size)}, nil
	})
	size = tool.MaxStructured - len(`{"x":""}`)
	if _, err := c.Run(t.Context(), tool.Call{}, json.RawMessage(`{}`), nil); err != nil {
		t.Error(err)
	}
	size++
	if _, err := c.Run(t.Context(), tool.Call{}, json.RawMessage(`{}`), nil); err == nil {
		t.Error("an answer over the limit went out")
	}
}

func TestBudgetFillsAnAnswerExactly(t *testing.T) {
	t.Parallel()
	type answer struct {
		Items []string `json:"items"`
	}
	taken, err := tool.Size(answer{Items: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	b := tool.NewBudget(taken)
	var out answer
	item := strings.Repeat("é<\n\u0001", 100)
	for {
		ok, err := b.Take(item)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		out.Items = append(out.Items, item)
	}
	size, err := tool.Size(out)
	if err != nil {
		t.Fatal(err)
	}
	one := tool.TextSize(item) + 1
	if size > tool.MaxStructured || size+one < tool.MaxStructured || b.Left() >= one {
		t.Errorf("%d bytes, %d left, an item takes %d", size, b.Left(), one)
	}
}

func FuzzTextSize(f *testing.F) {
	f.Add("a\"b\\\n\t\b\f\r\x00\x7f<>&é\u2028\u2029\ufffd\xff日", 5)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		want, err := tool.Size(text)
		if err != nil || tool.TextSize(text) != want {
			t.Fatalf("%q: %d, want %d", text, tool.TextSize(text), want)
		}
		limit = max(2, min(limit, 1000))
		n := tool.FitText(text, limit)
		if size := tool.TextSize(text[:n]); size > limit {
			t.Errorf("%q cut to %d takes %d of %d", text, n, size, limit)
		}
		if n < len(text) && tool.TextSize(text[:n])+6 < limit {
			t.Errorf("%q cut to %d, too early for %d", text, n, limit)
		}
	})
}
