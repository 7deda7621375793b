package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// rawQuery sends a query whose fields are only known at run time, which
// githubv4 cannot describe without reflection, and decodes its data into out.
// Values only ever travel as variables.
func (c *client) rawQuery(ctx context.Context, what question, out any) (*exchange, error) {
	body, err := json.Marshal(struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}{what.text, what.vars})
	if err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	x, err := c.run(ctx, what.call(), func(ctx context.Context) error { return c.post(ctx, body, out) })
	return x, c.judgeQuery(x, err, what.tolerated)
}

func (c *client) post(ctx context.Context, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.GraphQL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if len(answer.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		return fmt.Errorf("decode data: %w", err)
	}
	return nil
}
