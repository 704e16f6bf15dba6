// Package chat talks to OpenAI-compatible APIs: one turn of a conversation at a time, with tools, whole or as a stream, and
// embeddings of texts.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Model is an OpenAI-compatible API and one of its models. The zero value is none.
type Model struct {
	URL     string        // base URL, such as http://127.0.0.1:11434/v1
	Key     string        // sent as a bearer token, never logged; "" sends none
	Name    string        // which model to ask for, unless a call names another
	Timeout time.Duration // of one run with all its rounds, default 60 s
	// Via says of the network what it says for a server: proxy and certificates. The rest of it means nothing.
	Via config.Server
}

// Unverified reports whether nobody vouches for the API at the URL.
func (m Model) Unverified() bool { return m.server().Unverified() }

func (m Model) server() config.Server {
	s := m.Via
	s.URL = m.URL
	return s
}

// Client talks to an OpenAI-compatible API.
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

// New makes a client; Close ends its idle connections. The API is reached as servers are. The error is a *failure.Error about the URL,
// the proxy or a file of certificates.
func New(m Model) (*Client, error) {
	if m.Timeout <= 0 {
		m.Timeout = defaultModelTimeout
	}
	network, err := transport.NewNetwork(m.server())
	if err != nil {
		return nil, err
	}
	pool := network.Transport(network.URL(), (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext)
	pool.MaxIdleConnsPerHost, pool.IdleConnTimeout, pool.TLSHandshakeTimeout, pool.ForceAttemptHTTP2 = 64, time.Minute, 10*time.Second, true
	return &Client{
		Model: m, url: strings.TrimRight(network.URL().String(), "/"), pool: pool,
		// A redirect would carry the key to who knows where.
		client: &http.Client{Transport: pool, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
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
	res, limited, err := c.post(ctx, "/chat/completions", in, MaxAnswer)
	if err != nil {
		return Message{}, "", err
	}
	defer res.Body.Close()
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

// post sends a request. Of the answer, whose body is the caller's to close, at most a byte more than most is to be read. Any other
// status than 200 is a *StatusError.
func (c *Client) post(ctx context.Context, path string, in any, most int64) (*http.Response, *io.LimitedReader, error) {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(in); err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, &body)
	if err != nil {
		return nil, nil, fmt.Errorf("invalid model URL: %s", redact(err))
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Model.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Model.Key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be reached: %s", redact(err))
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		return nil, nil, &StatusError{res.StatusCode, c.reason(res.Body), retryAfter(res.Header)}
	}
	return res, &io.LimitedReader{R: res.Body, N: most + 1}, nil
}

// StatusError is an answer other than 200.
type StatusError struct {
	Status int
	reason string        // with a colon before it, "" if the body says none
	After  time.Duration // what Retry-After asks for, 0 if it does not
}

// Error has the status, and what the API says about it.
func (e *StatusError) Error() string {
	return fmt.Sprintf("answered with HTTP status %d%s", e.Status, e.reason)
}

// retryAfter reads the seconds of Retry-After, which is where such APIs say when to come again.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
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
