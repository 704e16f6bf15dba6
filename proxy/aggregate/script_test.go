package aggregate_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// asked is a request to a scripted agent.
type asked struct {
	ID      json.RawMessage
	Method  string
	Params  json.RawMessage
	Session string
	r       *http.Request
}

// param is a member of the params, and of members in them, as JSON.
func (a asked) param(path ...string) string {
	v := a.Params
	for _, p := range path {
		var m map[string]json.RawMessage
		_ = json.Unmarshal(v, &m)
		v = m[p]
	}
	return string(v)
}

// script is an agent that does what a test says: it answers a request with a result, "" if it knows no such method, or text
// that begins with ! for an error. say sends a message before that.
type script struct {
	modern bool
	caps   string // "{}" without
	info   string // more members of the introduction
	answer func(a asked, say func(format string, args ...any)) string

	mu       sync.Mutex
	seen     []string // methods, in order
	progress string   // token of the last call
	general  []chan string
	notes    chan asked // notifications and answers
}

func (s *script) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.seen {
		if m == method {
			n++
		}
	}
	return n
}

// streams is how many streams of GET there are.
func (s *script) streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.general)
}

// tell sends a message over the streams of GET.
func (s *script) tell(frame string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.general {
		c <- frame
	}
}

func (s *script) serve(t *testing.T) string {
	t.Helper()
	s.ready()
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL + "/mcp"
}

// ready makes what a request needs.
func (s *script) ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notes == nil {
		s.notes = make(chan asked, 1000)
	}
	if s.caps == "" {
		s.caps = "{}"
	}
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ready()
	if r.Method == http.MethodGet && !s.modern {
		s.stream(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	a := asked{Session: r.Header.Get("Mcp-Session-Id"), r: r}
	_ = json.Unmarshal(body, &a)
	s.mu.Lock()
	s.seen = append(s.seen, a.Method)
	s.mu.Unlock()
	if a.ID == nil || a.Method == "" {
		if a.Method == "" {
			a.Params = body
		}
		s.notes <- a
		w.WriteHeader(http.StatusAccepted)
		return
	}
	events := false
	say := func(format string, args ...any) {
		if !events {
			events = true
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = fmt.Fprintf(w, "data: "+format+"\n\n", args...)
		_ = http.NewResponseController(w).Flush()
	}
	result := ""
	switch {
	case s.modern && a.Method == "server/discover":
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + s.caps + s.info + `,"ttlMs":0,"cacheScope":"private"}`
	case !s.modern && a.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("up-%d", time.Now().UnixNano()))
		result = `{"protocolVersion":` + a.param("protocolVersion") + `,"capabilities":` + s.caps + s.info + `,"serverInfo":{"name":"s","version":"1"}}`
	case s.modern && a.param("_meta", "io.modelcontextprotocol/protocolVersion") == "", !s.modern && a.Method == "server/discover":
		result = `!{"code":-32600,"message":"unknown"}`
	case s.answer != nil:
		result = s.answer(a, say)
	}
	if result == "" {
		result = `!{"code":-32601,"message":"no such method"}`
	}
	member := "result"
	if e, ok := strings.CutPrefix(result, "!"); ok {
		member, result = "error", e
	}
	frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, a.ID, member, result)
	if events {
		say("%s", frame)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, frame)
}

func (s *script) stream(w http.ResponseWriter, r *http.Request) {
	c := make(chan string, 100)
	s.mu.Lock()
	s.general = append(s.general, c)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(200)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case frame := <-c:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", frame)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// port is an address at which a server can come and go.
type port struct {
	t    *testing.T
	addr string
	web  *http.Server
	done chan struct{}
}

func newPort(t *testing.T) *port {
	t.Helper()
	p := &port{t: t, addr: fmt.Sprintf("127.0.0.1:%d", nettest.FreePort(t))}
	t.Cleanup(p.stop)
	return p
}

func (p *port) url() string { return "http://" + p.addr + "/mcp" }

func (p *port) start(h http.Handler) {
	p.t.Helper()
	var ln net.Listener
	require.Eventually(p.t, "the port is free", func() bool {
		var err error
		ln, err = net.Listen("tcp", p.addr)
		return err == nil
	})
	p.web, p.done = &http.Server{Handler: h}, make(chan struct{})
	go func() {
		defer close(p.done)
		_ = p.web.Serve(ln)
	}()
}

func (p *port) stop() {
	if p.web != nil {
		_ = p.web.Close()
		<-p.done
		p.web = nil
	}
}

// events reads a stream in the background.
type events struct {
	t   *testing.T
	all chan string
	res *http.Response
}

func (s *setup) events(res *http.Response) *events {
	s.t.Helper()
	e := &events{t: s.t, all: make(chan string, 1000), res: res}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(e.all)
		r := bufio.NewReader(res.Body)
		for {
			line, err := r.ReadString('\n')
			if data, ok := strings.CutPrefix(line, "data: "); ok || strings.HasPrefix(line, "{") { // an answer may be JSON, too
				e.all <- strings.TrimSpace(data)
			}
			if err != nil {
				return
			}
		}
	}()
	s.t.Cleanup(func() {
		_ = res.Body.Close()
		<-done
	})
	return e
}

// next is the next event that has all of these texts in it.
func (e *events) next(has ...string) string {
	e.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case got, ok := <-e.all:
			if !ok {
				e.t.Fatalf("the stream ended without %q", has)
			}
			if all(got, has) {
				return got
			}
		case <-late:
			e.t.Fatalf("no event with %q", has)
		}
	}
}

// not reads what has come up to an event, and fails if anything before has the text.
func (e *events) not(text string, until ...string) {
	e.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case got, ok := <-e.all:
			if !ok || strings.Contains(got, text) {
				e.t.Fatalf("unwanted, or the end of the stream: %q", got)
			}
			if all(got, until) {
				return
			}
		case <-late:
			e.t.Fatalf("no event with %q", until)
		}
	}
}

func all(got string, has []string) bool {
	for _, h := range has {
		if !strings.Contains(got, h) {
			return false
		}
	}
	return true
}

// general opens a session's general stream.
func (s *setup) general(session string) *events {
	s.t.Helper()
	res := s.do(http.MethodGet, session, "")
	if res.StatusCode != http.StatusOK {
		s.t.Fatal(res.StatusCode)
	}
	return s.events(res)
}

// modern sends a request of the modern era; more are members of the params, after a comma, and caps those of the client.
func (s *setup) modern(id, method, name, more, caps string, headers ...string) *http.Response {
	s.t.Helper()
	if caps == "" {
		caps = "{}"
	}
	head := append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}, headers...)
	if name != "" {
		head = append(head, "Mcp-Name", name)
	}
	return s.do(http.MethodPost, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":%s}%s}}`, id, method, caps, more), head...)
}

// modernAsk is modern with the answer read.
func (s *setup) modernAsk(method, name, more, caps string, headers ...string) answer {
	s.t.Helper()
	res := s.modern("q", method, name, more, caps, headers...)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	if i := strings.LastIndex(string(text), "data: "); i >= 0 {
		text = text[i+6:]
	}
	a := answer{raw: string(text)}
	if err := json.Unmarshal(text, &a); err != nil || !strings.Contains(a.raw, `"id":"q"`) {
		s.t.Fatalf("%s: %d %s", method, res.StatusCode, text)
	}
	return a
}
