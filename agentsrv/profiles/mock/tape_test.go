package mock

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// tape makes a journal of lines such as
//
//	>1 tools/call {…}      a request of the client
//	<1 {…}                 its result
//	<1! {…}                its error
//	<- notifications/x {…} a notification; >- is one of the client's
//	<?7 roots/list {…}     a request of the server
//	>?7 {…}                the client's answer
//
// each a millisecond after the one before, or as much as @500 says at the end.
func tape(t testing.TB, text string) *journal.Journal {
	t.Helper()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		m := tapeLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a line of a tape: %s", line)
		}
		dir, mark, id, bad, method, body, after := m[1], m[2], m[3], m[4] != "", m[5], m[6], m[7]
		ms := 1
		if after != "" {
			ms, _ = strconv.Atoi(after)
		}
		at = at.Add(time.Duration(ms) * time.Millisecond)
		e := journal.Entry{Time: at, Server: "srv", Conn: 1, Dir: journal.Out, Method: method, ID: id}
		if dir == "<" {
			e.Dir = journal.In
		}
		var frame, params []byte
		if body != "" {
			params = []byte(body)
		}
		switch {
		case mark == "-":
			e.Kind, frame = journal.Notification, jsonrpc.NewNotification(method, params)
		case method != "":
			e.Kind, frame = journal.Request, jsonrpc.NewRequest([]byte(id), method, params)
		case bad:
			e.Kind, frame = journal.ErrorResponse, []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, body))
		default:
			e.Kind, frame = journal.Response, jsonrpc.NewResult([]byte(id), []byte(body))
		}
		if strings.HasPrefix(method, "tasks/") { // as sessions record it
			e.Tool = jsonrpc.GetString(params, "taskId")
		}
		j.Append(e, frame)
	}
	return j
}

var tapeLine = regexp.MustCompile(`^([<>])([-?]?)([0-9]*)(!?) ?([a-z][\w/]*)? ?(\{.*\})?(?: @([0-9]+))?$`)

// legacy and modern are the handshakes of tapes.
const (
	legacyHello = `>1 initialize {"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
<1 {"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"prompts":{},"logging":{}},"serverInfo":{"name":"real","version":"7"},"instructions":"Be kind."}
>- notifications/initialized
`
	meta        = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	modernHello = `>1 server/discover {` + meta + `}
<1 {"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"Be kind.","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"real","version":"7"}}}
`
)

// client is one over pipes.
type client struct {
	t      testing.TB
	modern bool
	caps   string // a JSON object
	token  bool   // with progress
	level  string // of log messages, in the modern era
	id     int
	out    io.WriteCloser
	frames chan []byte
	notes  []string
	asked  []string
	answer func(method, params string) string // the result
}

// serve runs a mock of a tape over pipes, and ends it with the test.
func serve(t testing.TB, j *journal.Journal, o Options) *Mock {
	t.Helper()
	o.Journal, o.Server = j, "srv"
	m, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, m.Close(ctx))
	})
	return m
}

func (m *Mock) dial(t testing.TB, modern bool, caps string) *client {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, modern: modern, caps: caps, out: toServer, frames: make(chan []byte, 1000)}
	go func() {
		_ = m.ServeStdio(context.Background(), in, out)
		_ = out.Close()
	}()
	go func() {
		lines := bufio.NewReader(fromServer)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				close(c.frames)
				return
			}
			c.frames <- line
		}
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		for range c.frames {
		}
	})
	if !modern {
		c.result("initialize", `"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"},"capabilities":`+caps)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c
}

func (c *client) send(frame string) {
	c.t.Helper()
	if _, err := io.WriteString(c.out, frame+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// request sends one and returns its id.
func (c *client) request(method, params string) string {
	c.t.Helper()
	c.id++
	id := fmt.Sprintf(`"r%d"`, c.id)
	var m []string
	if c.modern {
		m = append(m, `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+c.caps)
		if c.level != "" {
			m = append(m, `"io.modelcontextprotocol/logLevel":"`+c.level+`"`)
		}
	}
	if c.token {
		m = append(m, `"progressToken":"mine"`)
	}
	var all []string
	if params != "" {
		all = append(all, params)
	}
	if m != nil {
		all = append(all, `"_meta":{`+strings.Join(m, ",")+`}`)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, strings.Join(all, ",")))
	return id
}

// until reads until the answer to id, and answers questions meanwhile.
func (c *client) until(id string) jsonrpc.Envelope {
	c.t.Helper()
	for frame := range c.frames {
		if env := c.take(frame); string(env.ID) == id && env.Method == "" {
			return env
		}
	}
	c.t.Fatalf("no answer to %s; notifications: %v", id, c.notes)
	return jsonrpc.Envelope{}
}

func (c *client) take(frame []byte) jsonrpc.Envelope {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		c.t.Fatalf("%s: %v", frame, err)
	}
	switch env.Kind {
	case jsonrpc.Notification:
		c.notes = append(c.notes, env.Method+" "+string(env.Params))
	case jsonrpc.Request:
		c.asked = append(c.asked, env.Method+" "+string(env.Params))
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, c.answer(env.Method, string(env.Params))))
	}
	return env
}

func (c *client) do(method, params string) jsonrpc.Envelope {
	c.t.Helper()
	return c.until(c.request(method, params))
}

func (c *client) result(method, params string) string {
	c.t.Helper()
	env := c.do(method, params)
	if env.Kind != jsonrpc.Response {
		c.t.Fatalf("%s %s: %s", method, params, env.Error)
	}
	return string(env.Result)
}

// fails is the error of a request.
func (c *client) fails(method, params string) *jsonrpc.Error {
	c.t.Helper()
	env := c.do(method, params)
	if env.Kind != jsonrpc.ErrorResponse {
		c.t.Fatalf("%s %s: %s", method, params, env.Result)
	}
	var e jsonrpc.Error
	require.NoError(c.t, json.Unmarshal(env.Error, &e))
	return &e
}
