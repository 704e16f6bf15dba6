package proxy

import (
	"bytes"
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// What may become of a request. Whatever else does fails the test.
const (
	gotResult  = "result"         // with the token that was sent
	gotFail    = "agent's error"  // likewise
	gotBroken  = "broken off"     // the connection was cut, or the event stream ended before the answer
	gotLeft    = "left"           // the client did not wait
	gotGone    = "session gone"   // 404, for a session holder
	gotDown    = "502"            // the agent cannot be reached, or ended without an answer
	gotPaused  = "503"            // its circuit breaker is open
	gotSilent  = "504"            // it did not answer in time
	gotNoAgent = "no such agent"  // 404, for an agent that comes and goes
	gotNoTool  = "no such tool"   // likewise, of all agents as one
	lost       = 45 * time.Second // a request that takes longer was lost
)

// routerErrors are the router's own answers: HTTP status, JSON-RPC code (legacy, modern) and how the message begins.
var routerErrors = []struct {
	status       int
	code, modern int
	message      string
	outcome      string
}{
	{502, -32603, -32603, "Failed to reach agent: ", gotDown},
	{503, -32603, -32603, "Failed to reach agent: ", gotPaused},
	{504, -32003, -31003, "Agent '", gotSilent},
	{503, -32000, -31000, "Agent 'wild2' is still starting. ", gotPaused},
	{404, -32000, -31000, noSession, gotGone},
	{404, -32601, -32601, "Agent '", gotNoAgent},
	{200, -32602, -32602, "Tool '", gotNoTool},
}

// chaosAsk is one call.
type chaosAsk struct {
	agent, path string
	id          string // as JSON
	do          string
	notes       int
	tool        string // default echo
	modern, sse bool
	session     string
	leave       time.Duration // the client does not wait longer; 0 for as long as it takes
	token       string        // default one of its own
}

// chaosClients are all clients, and what became of their requests.
type chaosClients struct {
	t      *testing.T
	f      *fixture
	http   *http.Client
	calm   []string // agents that nothing is done to
	absent string   // an agent that comes and goes
	stop   context.Context
	asked  atomic.Int64

	mu       sync.Mutex
	got      map[string]map[string]int // by agent and outcome
	sessions map[string]string         // the router's, by the agent's
}

// call makes a call and checks what comes of it.
func (c *chaosClients) call(a chaosAsk) string {
	if a.sse && a.notes > 0 && a.do == doHang && a.leave == 0 {
		a.leave = 300 * time.Millisecond // a stream that began may be silent for as long as it likes
	}
	began := time.Now()
	token := cmp.Or(a.token, crand.Text())
	c.asked.Add(1)
	outcome, err := c.answer(a, token)
	if took := time.Since(began); took > lost {
		err = errors.Join(err, fmt.Errorf("it took %v", took))
	}
	switch {
	case err == nil && slices.Contains(c.calm, a.agent) && outcome != gotResult && outcome != gotFail && outcome != gotLeft:
		err = errors.New("nothing was done to this agent")
	case err == nil && outcome == gotDown && a.agent == c.absent && a.path != "/mcp", outcome == gotGone && (a.session == "" || a.path == "/mcp"), outcome == gotNoAgent && a.agent != c.absent, outcome == gotNoTool && a.agent != c.absent:
		err = errors.New("that cannot be")
	}
	if err != nil {
		c.t.Errorf("%+v, token %s: %s: %v", a, token, outcome, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.got[a.agent] == nil {
		c.got[a.agent] = map[string]int{}
	}
	c.got[a.agent][outcome]++
	return outcome
}

// body is the call as JSON.
func (a chaosAsk) body(token string) []byte {
	meta := ""
	if a.sse {
		meta = `"progressToken":"p-` + token + `"`
	}
	if a.modern {
		if meta != "" {
			meta += ","
		}
		meta += `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"token":%q,"do":%q,"notes":%d},"_meta":{%s}}}`,
		a.id, a.name(), token, a.do, a.notes, meta)
}

func (a chaosAsk) name() string {
	return cmp.Or(a.tool, "echo")
}

// answer sends a call and says what came of it; the error is why that must not be.
func (c *chaosClients) answer(a chaosAsk, token string) (outcome string, err error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*lost)
	if a.leave > 0 {
		ctx, cancel = context.WithTimeout(c.t.Context(), a.leave)
	}
	defer cancel()
	headers := []string{}
	if a.sse {
		headers = append(headers, "Accept", accept)
	}
	if a.modern {
		headers = append(headers, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", a.name())
	}
	if a.session != "" {
		headers = append(headers, "Mcp-Session-Id", a.session)
	}
	res, err := c.send(ctx, "POST", a.path, a.body(token), headers...)
	ended := func(err error) (string, error) {
		switch {
		case a.leave > 0 && ctx.Err() != nil:
			return gotLeft, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return gotBroken, nil
		}
		return "lost", err
	}
	if err != nil {
		return ended(err)
	}
	defer func() { _ = res.Body.Close() }()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		if !a.sse {
			return "event stream", errors.New("that was not accepted")
		}
		return c.events(a, token, res, ended)
	}
	frame, err := io.ReadAll(res.Body)
	if err != nil {
		return ended(err)
	}
	return c.final(a, token, res.StatusCode, res.Header, frame)
}

// events reads an answer that is an event stream: every notification is of this call, and none is missing.
func (c *chaosClients) events(a chaosAsk, token string, res *http.Response, ended func(error) (string, error)) (string, error) {
	events := sse.NewReader(res.Body, 1<<20, 0)
	for n := 0; ; n++ {
		e, err := events.Next()
		if err != nil {
			return ended(err)
		}
		env, err := jsonrpc.Scan(e.Data)
		if err != nil {
			return "event", fmt.Errorf("%w in %s", err, e.Data)
		}
		if env.Kind != jsonrpc.Notification {
			outcome, err := c.final(a, token, res.StatusCode, res.Header, e.Data)
			if outcome == gotResult && n != a.notes {
				return outcome, fmt.Errorf("%d of %d notifications came before", n, a.notes)
			}
			return outcome, err
		}
		if want := fmt.Sprintf(`{"progressToken":"p-%s","progress":%d,"message":"%s"}`, token, n, token); string(env.Params) != want {
			return "event", fmt.Errorf("notification %s, want %s", env.Params, want)
		}
	}
}

// final checks an answer.
func (c *chaosClients) final(a chaosAsk, token string, status int, h http.Header, frame []byte) (string, error) {
	env, err := jsonrpc.Scan(frame)
	switch {
	case err != nil:
		return "answer", fmt.Errorf("%w in %d %.300q", err, status, frame)
	case string(env.ID) != a.id:
		return "answer", fmt.Errorf("id %s in %d %.300q", env.ID, status, frame)
	case env.Kind == jsonrpc.Response:
		return gotResult, c.result(a, token, status, env.Result)
	case env.Kind != jsonrpc.ErrorResponse:
		return "answer", fmt.Errorf("%.300q", frame)
	}
	e, err := jsonrpc.ParseError(env.Error)
	if err != nil {
		return "error", fmt.Errorf("%w in %.300q", err, frame)
	}
	if e.Code == chaosCode {
		if e.Message != token || a.do != doFail {
			return gotFail, fmt.Errorf("of another call: %s", e.Message)
		}
		return gotFail, nil
	}
	for _, r := range routerErrors {
		code := r.code
		if a.modern {
			code = r.modern
		}
		// All agents as one pass errors on as an agent's own.
		if (status == r.status || a.path == "/mcp" && status == jsonrpc.StatusOf(e.Code, a.modern)) && e.Code == int64(code) && strings.HasPrefix(e.Message, r.message) {
			if r.outcome == gotPaused && h.Get("Retry-After") == "" && a.path != "/mcp" {
				return r.outcome, errors.New("without Retry-After")
			}
			return r.outcome, nil
		}
	}
	return "error", fmt.Errorf("unexpected: %d %.300q", status, frame)
}

// result checks that a result is of this call, agent and session.
func (c *chaosClients) result(a chaosAsk, token string, status int, raw []byte) error {
	var r struct {
		Content []struct{ Text string }
		Agent   string
		Session string
		Pad     string
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	pad := ""
	if a.do == doHuge {
		pad = strings.Repeat(token+" ", hugePad/(len(token)+1))
	}
	if status != 200 || len(r.Content) != 1 || r.Content[0].Text != token || r.Agent != a.agent || r.Pad != pad {
		return fmt.Errorf("%d %.300q", status, raw)
	}
	if a.session == "" || a.path == "/mcp" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.sessions[r.Session]; have == "" {
		c.sessions[r.Session] = a.session
	} else if have != a.session && a.agent != "shared" {
		return fmt.Errorf("in the agent's session %s, which was that of %s before", r.Session, have)
	}
	return nil
}

func (c *chaosClients) send(ctx context.Context, method, path string, body []byte, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.f.URL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return c.http.Do(req)
}

// open opens a session, or says that the agent does not open one just now.
func (c *chaosClients) open(agent, path string) (id string) {
	c.asked.Add(1)
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*lost)
	defer cancel()
	res, err := c.send(ctx, "POST", path, []byte(initialize), "Accept", accept)
	outcome := gotBroken
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		frame, broken := io.ReadAll(res.Body)
		if id = res.Header.Get("Mcp-Session-Id"); id != "" && broken == nil {
			if env, err := jsonrpc.Scan(frame); err != nil || string(env.ID) != "1" || env.Kind != jsonrpc.Response {
				c.t.Errorf("%s: initialize: %d %.300q", agent, res.StatusCode, frame)
			}
			return id
		}
		if outcome, err = c.final(chaosAsk{id: "1"}, "", res.StatusCode, res.Header, frame); err != nil {
			c.t.Errorf("%s: initialize: %v", agent, err)
		}
	}
	if slices.Contains(c.calm, agent) {
		c.t.Errorf("%s: initialize: %s, %v", agent, outcome, err)
	}
	return ""
}

// pick is one of several.
func pick[T any](of ...T) T { return of[rand.IntN(len(of))] }

func (c *chaosClients) over() bool { return c.stop.Err() != nil }

// wait pauses a little after what did not work, so that the agent has time to come back.
func (c *chaosClients) pause(outcome string) {
	if outcome == gotResult || outcome == gotFail || outcome == gotLeft {
		return
	}
	select {
	case <-time.After(10 * time.Millisecond):
	case <-c.stop.Done():
	}
}

func id(n int) string { return strconv.Quote("c-" + strconv.Itoa(n)) }
