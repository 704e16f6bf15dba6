package agentlet

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

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/text"
)

// chat talks to an OpenAI-compatible /chat/completions.
type chat struct {
	model  Model
	url    string
	client *http.Client
	pool   *http.Transport
}

const (
	defaultModelTimeout = 60 * time.Second
	maxCallsPerRound    = 16
)

func newChat(m Model) *chat {
	if m.Timeout <= 0 {
		m.Timeout = defaultModelTimeout
	}
	pool := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
	return &chat{
		model: m, url: strings.TrimRight(m.URL, "/") + "/chat/completions", pool: pool,
		// A redirect would carry the key to who knows where.
		client: &http.Client{Transport: pool, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

func (c *chat) close() { c.pool.CloseIdleConnections() }

// message is one turn of the conversation, as the API has it.
type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type toolSpec struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type completion struct {
	Model    string     `json:"model"`
	Messages []message  `json:"messages"`
	Tools    []toolSpec `json:"tools,omitempty"`
	Stream   bool       `json:"stream,omitempty"`
}

func says(role, text string) message { return message{Role: role, Content: &text} }

// complete asks for one turn. With emit, the text is asked for as a stream and passed on as it arrives. used is the model
// that answered by its own account.
func (c *chat) complete(ctx context.Context, in completion, emit func(string) error) (turn message, used string, err error) {
	in.Stream = emit != nil
	body, err := kit.Marshal(in)
	if err != nil {
		return message{}, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return message{}, "", fmt.Errorf("invalid model URL: %s", redact(err))
	}
	req.Header.Set("Content-Type", "application/json")
	if c.model.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.model.Key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return message{}, "", fmt.Errorf("cannot be reached: %s", redact(err))
	}
	defer res.Body.Close()
	limited := &io.LimitedReader{R: res.Body, N: maxAnswer + 1}
	if res.StatusCode != http.StatusOK {
		return message{}, "", fmt.Errorf("answered with HTTP status %d%s", res.StatusCode, c.reason(limited))
	}
	if emit != nil && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		turn, used, err = readStream(limited, emit)
	} else {
		turn, used, err = readWhole(limited)
	}
	if limited.N <= 0 {
		err = fmt.Errorf("answered with more than %s", text.Bytes(maxAnswer))
	}
	return turn, used, err
}

func readWhole(r io.Reader) (message, string, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return message{}, "", fmt.Errorf("broke off: %s", redact(err))
	}
	var out struct {
		Model   string
		Choices []struct{ Message message }
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return message{}, "", fmt.Errorf("did not answer with JSON: %v", err)
	}
	if len(out.Choices) == 0 {
		return message{}, "", errors.New("answered without choices; is it a chat completions API?")
	}
	return out.Choices[0].Message, out.Model, nil
}

// reason is what an error's body says, if it says something in the API's way.
func (c *chat) reason(r io.Reader) string {
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
	if c.model.Key != "" {
		detail = strings.ReplaceAll(detail, c.model.Key, "***")
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

// name is how messages call the model: by host, without what may be secret in its URL.
func (c *chat) name(asked string) string {
	host := "the endpoint"
	if u, err := url.Parse(c.model.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	return fmt.Sprintf("model %q at %s", text.Clip(asked, 100), host)
}
