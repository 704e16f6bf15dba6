package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// piped is a router over a pipe: say writes a line, next reads one.
func piped(t *testing.T, f *fixture) (say func(string), next func() string, end func() error) {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	over := make(chan error, 1)
	go func() {
		over <- f.ServeStdio(context.Background(), in, out)
		_ = out.Close()
	}()
	lines := bufio.NewReader(read)
	say = func(line string) { _, _ = io.WriteString(write, line+"\n") }
	next = func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%q %v", line, err)
		}
		return strings.TrimSpace(line)
	}
	return say, next, func() error {
		_ = write.Close()
		rest, _ := io.ReadAll(lines)
		if len(rest) > 0 {
			t.Errorf("after the end: %s", rest)
		}
		return <-over
	}
}

// A host that knows stdio alone reaches all agents, in both eras, without tokens; every line of the output is a message.
func TestR3_R19_AllAgentsOverStdio(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method != "tools/call" {
			_, _ = w.Write(jsonrpc.NewError(e.ID, jsonrpc.CodeMethodNotFound, "no", nil))
			return
		}
		reply(w, e.ID, "{\n\"content\":[], \"big\":9007199254740993}")
	}
	f := start(t, Options{Trusted: true, MaxRequest: 1000, Tokens: tokens(t, token("one", "alpha", `["*"]`))}, route("a", a.at(), ""))
	say, next, end := piped(t, f)
	want := func(says, wanted string) {
		t.Helper()
		if says != "" {
			say(says)
		}
		if got := next(); !strings.Contains(got, wanted) {
			t.Errorf("%s: %s", says, got)
		}
	}
	want("nonsense", `"id":null,"error":{"code":-32700`)
	want(`{"jsonrpc":"2.0","id":"é","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"id":"é","result":{"protocolVersion":"2025-06-18"`)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	want(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__echo","arguments":{}}}`, `"id":2,"result":{ "content":[], "big":9007199254740993}`)
	want(`{"jsonrpc":"2.0","id":3,"method":"nope"}`, `"id":3,"error":{"code":-32601`)
	want(`{"jsonrpc":"2.0","method":"ping","params":{"x":"`+strings.Repeat("x", 2000)+`"},"id":4}`, `"id":4,"error":{"code":-32600`)
	want(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"id":5,"result"`)
	assert.NoError(t, end())
}

// hanging is a client over pipes, initialized, of a router whose agent answers no call; called hears of each.
func hanging(t *testing.T) (say func(string), end func() error, called chan struct{}) {
	t.Helper()
	a := newAgent(t)
	called = make(chan struct{}, 1)
	a.answer = func(_ http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/call" {
			called <- struct{}{}
			<-r.Context().Done()
		}
	}
	say, next, end := piped(t, start(t, Options{Trusted: true}, route("a", a.at(), "")))
	say(initialize)
	next()
	return say, end, called
}

// The end of the input ends what runs, within a second, and nobody is told anything after it.
func TestR19_A10_StdioEndsWithItsInput(t *testing.T) {
	t.Parallel()
	within(t, time.Second, func() time.Duration {
		say, end, called := hanging(t)
		say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__echo","arguments":{}}}`)
		<-called
		return ending(t, end)
	})
}

// What is cancelled is not answered, whatever was cancelled too late before.
func TestR19_CancelledOverStdio(t *testing.T) {
	say, end, called := hanging(t)
	for i := range duplex.MaxCalls + 1 {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"old %d"}}`, i))
	}
	say(`{"jsonrpc":"2.0","id":"two/2","method":"tools/call","params":{"name":"mcp__a__echo","arguments":{}}}`)
	<-called
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two\/2"}}`)
	if err := end(); err != nil { // with nothing written meanwhile
		t.Error(err)
	}
}

// An agent's question that nobody answers any more does not outlive the input.
func TestR19_A10_StdioEndsWhileTheClientIsAsked(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+string(jsonrpc.NewRequest([]byte(`"why"`), "elicitation/create", []byte(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)))+"\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}
	f := start(t, Options{Trusted: true}, route("a", a.at(), ""))
	within(t, 2*time.Second, func() time.Duration {
		say, next, end := piped(t, f)
		say(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		next()
		say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__echo","arguments":{}}}`)
		if got := next(); !strings.Contains(got, "elicitation/create") {
			t.Fatal(got)
		}
		return ending(t, end)
	})
}

// ending is how long it takes to end.
func ending(t *testing.T, end func() error) time.Duration {
	t.Helper()
	return budget.Time(func() {
		assert.NoError(t, end())
	})
}

// A router that is told to end while its client keeps asking ends, and starts nothing afterwards.
func TestR19_StdioEndsWhileItIsAsked(t *testing.T) {
	f := start(t, Options{Trusted: true})
	for range 20 {
		in, write := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for i := 0; ; i++ {
				if _, err := fmt.Fprintf(write, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i); err != nil {
					return
				}
				if i == 20 {
					cancel()
				}
			}
		}()
		assert.NoError(t, f.ServeStdio(ctx, in, io.Discard))
		_ = in.Close()
	}
}

// A client that reads nothing does not keep the router from ending.
func TestR19_StdioEndsThoughNobodyReads(t *testing.T) {
	t.Parallel()
	f := start(t, Options{Trusted: true})
	in, write := io.Pipe()
	stuck, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- f.ServeStdio(ctx, in, out) }()
	_, _ = io.WriteString(write, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	time.Sleep(100 * time.Millisecond) // the answer is being written
	cancel()
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		t.Error("it waits for the client")
	}
	_, _ = stuck.Close(), in.Close()
}
