// Package chat talks to OpenAI-compatible chat APIs: one turn of a conversation at a time, with tools, whole or as a stream.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/text"
)

// Model is an OpenAI-compatible chat API. The zero value is none.
type Model struct {
	URL     string        // base URL, such as http://127.0.0.1:11434/v1
	Key     string        // sent as a bearer token, never logged; "" sends none
	Name    string        // which model to ask for, unless a call names another
	Timeout time.Duration // of one run with all its rounds, default 60 s
}

// Client talks to an OpenAI-compatible /chat/completions.
type Client struct {
	Model  Model
	url    string
	client *http.Client
	pool   *http.Transport
}

const (
	defaultModelTimeout = 60 * time.Second
	// MaxAnswer bounds what a model may answer with, in bytes.
	MaxAnswer = 4 << 20
	// MaxCalls bounds the tool calls of one turn.
	MaxCalls = 16
)

// New makes a client; Close ends its idle connections.
func New(m Model) *Client {
	if m.Timeout <= 0 {
		m.Timeout = defaultModelTimeout
	}
	pool := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
	return &Client{
		Model: m, url: strings.TrimRight(m.URL, "/") + "/chat/completions", pool: pool,
		// A redirect would carry the key to who knows where.
		client: &http.Client{Transport: pool, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// Message is one turn of the conversation, as the API has it.
type Message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// ToolCall is a call that the model wants.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what is called; Arguments are JSON in a string.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Request asks for one turn. Zero values leave the choice to the model.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"`
	Stream   bool      `json:"stream,omitempty"`

	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Stop        []string `json:"stop,omitempty"`
}

// Says is a message of text.
func Says(role, text string) Message { return Message{Role: role, Content: &text} }

// Complete asks for one turn. With emit, the text is asked for as a stream and passed on as it arrives. used is the model
// that answered by its own account.
func (c *Client) Complete(ctx context.Context, in Request, emit func(string) error) (turn Message, used string, err error) {
	in.Stream = emit != nil
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(in); err != nil {
		return Message{}, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, &body)
	if err != nil {
		return Message{}, "", fmt.Errorf("invalid model URL: %s", redact(err))
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Model.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Model.Key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return Message{}, "", fmt.Errorf("cannot be reached: %s", redact(err))
	}
	defer res.Body.Close()
	limited := &io.LimitedReader{R: res.Body, N: MaxAnswer + 1}
	if res.StatusCode != http.StatusOK {
		return Message{}, "", fmt.Errorf("answered with HTTP status %d%s", res.StatusCode, c.reason(limited))
	}
	if emit != nil && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		turn, used, err = readStream(limited, emit)
	} else {
		turn, used, err = readWhole(limited)
	}
	if limited.N <= 0 {
		err = fmt.Errorf("answered with more than %s", text.Bytes(MaxAnswer))
	}
	return turn, used, err
}

func readWhole(r io.Reader) (Message, string, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return Message{}, "", fmt.Errorf("broke off: %s", redact(err))
	}
	var out struct {
		Model   string
		Choices []struct{ Message Message }
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return Message{}, "", fmt.Errorf("did not answer with JSON: %v", err)
	}
	if len(out.Choices) == 0 {
		return Message{}, "", errors.New("answered without choices; is it a chat completions API?")
	}
	return out.Choices[0].Message, out.Model, nil
}

// reason is what an error's body says, if it says something in the API's way.
func (c *Client) reason(r io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	var out struct {
		Error json.RawMessage
	}
	if json.Unmarshal(raw, &out) != nil || len(out.Error) == 0 {
		return ""
	}
	var detail string
	if json.Unmarshal(out.Error, &detail) != nil {
		var object struct{ Message string }
		if json.Unmarshal(out.Error, &object) != nil {
			return ""
		}
		detail = object.Message
	}
	if c.Model.Key != "" {
		detail = strings.ReplaceAll(detail, c.Model.Key, "***")
	}
	return ": " + text.Clip(detail, 300)
}

// redact drops the URL, which may hold credentials, from an error of net/http.
func redact(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

// Name is how messages call the model: by host, without what may be secret in its URL.
func (c *Client) Name(asked string) string {
	host := "the endpoint"
	if u, err := url.Parse(c.Model.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	return fmt.Sprintf("model %q at %s", text.Clip(asked, 100), host)
}
