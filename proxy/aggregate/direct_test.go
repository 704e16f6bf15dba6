package aggregate_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// custom is a scripted agent that answers tools/call, and GET, by itself.
func custom(t *testing.T, call func(w http.ResponseWriter, r *http.Request, id string)) (url string, s *script) {
	t.Helper()
	s = &script{caps: `{"tools":{}}`}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if at := bytes.Index(body, []byte(`"id":`)); bytes.Contains(body, []byte(`"tools/call"`)) || r.Method == http.MethodGet {
			id := ""
			if at > 0 {
				id, _, _ = strings.Cut(string(body[at+5:]), ",")
			}
			call(w, r, id)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return web.URL + "/mcp", s
}

const callIt = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"mcp__a__t","arguments":{}}}`

// What an agent answers passes as its bytes, spaces and numbers and unknown members, but for the id that the client gave.
func TestR6_R19_ResultsKeepTheirBytes(t *testing.T) {
	const result = `{ "content":[], "structuredContent":{"big":9007199254740993,"price":1.50,"e":1E+2, "dup":1,"dup":2}, "x-own" : null}`
	url, _ := custom(t, func(w http.ResponseWriter, _ *http.Request, id string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc": "2.0","result":`+result+`,  "id":`+id+`}`)
	})
	s := router(t, map[string]string{"a": url}, nil)
	session, _ := s.open("{}", "2025-11-25")
	res := s.do(http.MethodPost, session, callIt)
	defer func() { _ = res.Body.Close() }()
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != `{"jsonrpc": "2.0","result":`+result+`,  "id":7}` {
		t.Errorf("%s %v", got, err)
	}
}

// A long result goes to the client while the agent still writes it; if the agent dies, the client is not left with half a result
// that looks whole.
func TestR5_R19_LongResultsPassAsTheyCome(t *testing.T) {
	for _, whole := range []bool{true, false} {
		read := make(chan struct{})
		half := strings.Repeat("x", 300_000)
		url, _ := custom(t, func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"`+half)
			_ = http.NewResponseController(w).Flush()
			<-read
			if !whole {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, half+`"}]}}`)
		})
		s := router(t, map[string]string{"a": url}, nil)
		session, _ := s.open("{}", "2025-11-25")
		res := s.do(http.MethodPost, session, callIt)
		head := make([]byte, 200_000)
		if _, err := io.ReadFull(res.Body, head); err != nil {
			t.Fatal(err)
		}
		close(read)
		rest, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := string(head) + string(rest); whole != (err == nil) || whole && got != `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"`+half+half+`"}]}}` {
			t.Errorf("whole %t: %d bytes, %v", whole, len(got), err)
		}
	}
}

// A call that wants no progress reaches the agent without a token for it, and is not given up because nothing is reported.
func TestR19_CallsWithoutProgressPassAsTheyAre(t *testing.T) {
	t.Parallel()
	const limit = time.Second
	var opened atomic.Bool
	asked := make(chan string, 1)
	s0 := &script{caps: `{"tools":{}}`}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte(`"tools/call"`)) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			s0.ServeHTTP(w, r)
			return
		}
		asked <- string(body)
		id, _, _ := strings.Cut(string(body[bytes.Index(body, []byte(`"id":`))+5:]), ",")
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * limit)
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"late\":true}}\n\n", id)
	}))
	t.Cleanup(web.Close)
	s := router(t, map[string]string{"a": web.URL + "/mcp"}, func(o *aggregate.Options) {
		o.Limit = func(string) time.Duration {
			if opened.Load() {
				return limit
			}
			return 30 * time.Second
		}
	})
	session, _ := s.open("{}", "2025-11-25")
	opened.Store(true)
	res := s.do(http.MethodPost, session, callIt)
	got, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || !strings.Contains(string(got), `"late":true`) {
		t.Errorf("%s %v", got, err)
	}
	assert.Contains(t, <-asked, `"params":{"name":"t","arguments":{}}`)
}

// An agent that ends a stream before the answer is asked for the rest of it; one that offers no rest has failed.
func TestR19_StreamsGoOn(t *testing.T) {
	id := make(chan string, 10)
	resumable := true
	url, _ := custom(t, func(w http.ResponseWriter, r *http.Request, of string) {
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-Id") == "e-1":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"rest\":true}}\n\n", <-id)
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			id <- of
			w.Header().Set("Content-Type", "text/event-stream")
			if resumable {
				_, _ = io.WriteString(w, "id: e-1\nretry: 10\n")
			}
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"first\"}}\n\n")
		}
	})
	s := router(t, map[string]string{"a": url}, nil)
	session, _ := s.open("{}", "2025-11-25")
	all := func() (got string) {
		for e := range s.events(s.do(http.MethodPost, session, callIt)).all {
			got += e + "\n"
		}
		return got
	}
	assert.Contains(t, all(), `"first"`, `"id":7,"result":{"content":[],"rest":true}`)
	resumable = false
	assert.Contains(t, all(), `"first"`, `"id":7,"error"`, "without answering")
}

// A session that the agent forgot is opened again, and the call made once more.
func TestR19_ForgottenSessionsAreOpenedAgain(t *testing.T) {
	var forgot atomic.Bool
	url, a := custom(t, func(w http.ResponseWriter, r *http.Request, id string) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if forgot.CompareAndSwap(true, false) {
			http.Error(w, "no session", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
	})
	s := router(t, map[string]string{"a": url}, nil)
	session, _ := s.open("{}", "2025-11-25")
	for range 2 {
		if got := s.ask(session, "tools/call", `{"name":"mcp__a__t"}`); got.Error != nil {
			t.Fatal(got.raw)
		}
		forgot.Store(true)
	}
	assert.Equalf(t, a.count("initialize"), 2, "sessions were opened")
}

// A call that its client cancels is cancelled at the agent, by the id that the agent knows.
func TestR19_CancelledCallsAreCancelledAtTheAgent(t *testing.T) {
	called := make(chan string, 1)
	url, a := custom(t, func(w http.ResponseWriter, r *http.Request, id string) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		called <- id
		<-r.Context().Done()
	})
	s := router(t, map[string]string{"a": url}, nil)
	session, _ := s.open("{}", "2025-11-25")
	over := make(chan struct{})
	go func() {
		defer close(over)
		resp := s.do(http.MethodPost, session, callIt)
		if m := resp.Header.Get("Content-Type"); m != "text/event-stream" {
			t.Errorf("a cancelled request was answered as %q", m)
		}
		_ = resp.Body.Close()
	}()
	id := <-called
	_ = s.do(http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`).Body.Close()
	<-over
	for end := time.After(30 * time.Second); ; {
		select {
		case n := <-a.notes:
			if n.Method == "notifications/cancelled" {
				if n.param("requestId") != id || id == "7" {
					t.Errorf("%s was called, %s cancelled", id, n.param("requestId"))
				}
				return
			}
		case <-end:
			t.Fatal("the agent was told nothing")
		}
	}
}

// An agent that dies in the middle of a short answer is reported as that.
func TestR19_ShortAnswersThatEndEarly(t *testing.T) {
	url, _ := custom(t, func(w http.ResponseWriter, r *http.Request, id string) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	s := router(t, map[string]string{"a": url}, nil)
	session, _ := s.open("{}", "2025-11-25")
	if got := s.ask(session, "tools/call", `{"name":"mcp__a__t"}`); got.Error == nil || !strings.Contains(got.Error.Message, "ended early") {
		t.Error(got.raw)
	}
}
