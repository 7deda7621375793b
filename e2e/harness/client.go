package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// The protocol versions that tests speak.
const (
	VersionLegacy = "2025-11-25"
	VersionModern = "2026-07-28"
)

// Client is a plain MCP client over HTTP that shows everything it gets.
type Client struct {
	Address string
	Token   string
	// Version is the protocol version stated with each request.
	Version string
	// Header is sent with each request, besides what the protocol asks for.
	Header http.Header
	// HTTP sends the requests.
	HTTP *http.Client
}

// NewClient makes a client of the last legacy version.
func NewClient(address, token string) *Client {
	return &Client{Address: address, Token: token, Version: VersionLegacy, HTTP: &http.Client{Timeout: 2 * time.Minute}}
}

// Response is one HTTP answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Post sends a body as it stands.
func (c *Client) Post(body []byte, header http.Header) (Response, error) {
	req, err := http.NewRequest(http.MethodPost, c.Address, bytes.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", c.Version)
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for _, more := range []http.Header{c.Header, header} {
		for name, values := range more {
			req.Header[name] = values
		}
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: data}, err
}

// RPC sends one request and gives its result, or its JSON-RPC error as an
// error.
func (c *Client) RPC(method string, params map[string]any) (json.RawMessage, error) {
	if params == nil {
		params = map[string]any{}
	}
	header := http.Header{}
	if c.Version == VersionModern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    VersionModern,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "vault-tests", "version": "1"},
		}
		header.Set("Mcp-Method", method)
		if name, ok := params["name"].(string); ok {
			header.Set("Mcp-Name", name)
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	resp, err := c.Post(body, header)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return nil, fmt.Errorf("status %d: %s", resp.Status, resp.Body)
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("status %d: error %d: %s", resp.Status, answer.Error.Code, answer.Error.Message)
	}
	return answer.Result, nil
}

// ToolError is an answer with isError.
type ToolError struct{ Text string }

// Error gives the sentence for the model.
func (e *ToolError) Error() string { return e.Text }

// Result is the answer of a tool.
type Result struct {
	Structured json.RawMessage
	Text       string
	Meta       map[string]any
}

// Call calls a tool. An isError answer is a *ToolError.
func (c *Client) Call(tool string, args map[string]any) (Result, error) {
	raw, err := c.RPC("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return Result{}, err
	}
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
		Meta              map[string]any `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fmt.Errorf("decode the answer of %s: %w", tool, err)
	}
	if len(r.Content) != 1 || r.Content[0].Type != "text" {
		return Result{}, fmt.Errorf("%s answered %d content blocks", tool, len(r.Content))
	}
	text := r.Content[0].Text
	if r.IsError {
		if r.StructuredContent != nil {
			return Result{}, errors.New("an isError answer carries structuredContent")
		}
		return Result{}, &ToolError{Text: text}
	}
	if text != string(r.StructuredContent) {
		return Result{}, fmt.Errorf("%s: the text block differs from structuredContent", tool)
	}
	return Result{Structured: r.StructuredContent, Text: text, Meta: r.Meta}, nil
}

// Into calls a tool and decodes its answer.
func Into[T any](c *Client, tool string, args map[string]any) (T, error) {
	var v T
	r, err := c.Call(tool, args)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(r.Structured, &v)
}
