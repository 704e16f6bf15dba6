package proxy

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// chaosArgs is what a call asks the agent to do with it. Whatever it does, it says the token.
type chaosArgs struct {
	Token string `json:"token"`
	Do    string `json:"do"`
	Notes int    `json:"notes"` // notifications of progress before the answer
}

// What an agent does beside answering at once.
const (
	doSlow = "slow" // answers after a while
	doHuge = "huge" // answers with hugePad bytes more
	doFail = "fail" // answers with an error of its own
	doTell = "tell" // also sends a notification to the session's own stream
	doHang = "hang" // never answers
	doDie  = "die"  // ends without an answer
	doHalf = "half" // ends in the middle of the answer
)

const (
	chaosCode = -32050 // of an agent's own error
	hugePad   = 300_000
)

// chaosAgent is an agent that keeps sessions, and does what calls ask it to.
type chaosAgent struct {
	name string
	mu   sync.Mutex
	told map[string]chan []byte // by session
}

// chaosOut is how one call is answered.
type chaosOut struct {
	note   func(frame []byte) // before the answer
	answer func(frame []byte)
	half   func(frame []byte) // returns when that is on its way
	tell   func(frame []byte)
}

func (a *chaosAgent) call(session string, e jsonrpc.Envelope, out chaosOut, left <-chan struct{}) {
	var args chaosArgs
	if err := json.Unmarshal(jsonrpc.Get(e.Params, "arguments"), &args); err != nil || args.Token == "" {
		out.answer(jsonrpc.NewError(e.ID, -32602, "no token", nil))
		return
	}
	token := jsonrpc.Quote(args.Token)
	if t := jsonrpc.Get(e.Params, "_meta", "progressToken"); t != nil {
		for i := range args.Notes {
			out.note(jsonrpc.NewNotification("notifications/progress", fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"message":%s}`, t, i, token)))
		}
	}
	pad := ""
	switch args.Do {
	case doSlow:
		select {
		case <-time.After(60 * time.Millisecond):
		case <-left:
		}
	case doHang:
		<-left
		return
	case doDie:
		os.Exit(3)
	case doHuge:
		pad = strings.Repeat(args.Token+" ", hugePad/(len(args.Token)+1))
	case doFail:
		out.answer(jsonrpc.NewError(e.ID, chaosCode, args.Token, nil))
		return
	case doTell:
		out.tell(jsonrpc.NewNotification("notifications/message", fmt.Appendf(nil, `{"level":"info","data":%s}`, token)))
	}
	result := jsonrpc.NewResult(e.ID, fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"agent":%q,"session":%q,"pad":%q,"resultType":"complete"}`, token, a.name, session, pad))
	if args.Do == doHalf {
		out.half(result[:len(result)/2])
		os.Exit(3)
	}
	out.answer(result)
}

const (
	chaosInit  = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"chaos","version":"1"}}`
	chaosTools = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
)

// other answers what is not a call.
func (a *chaosAgent) other(e jsonrpc.Envelope) []byte {
	switch e.Method {
	case "initialize":
		return jsonrpc.NewResult(e.ID, []byte(chaosInit))
	case "tools/list":
		return jsonrpc.NewResult(e.ID, []byte(chaosTools))
	case "ping":
		return jsonrpc.NewResult(e.ID, nil)
	}
	return jsonrpc.NewError(e.ID, jsonrpc.CodeMethodNotFound, "Method not found", nil)
}

// ServeHTTP is the agent over HTTP.
func (a *chaosAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("Mcp-Session-Id")
	modern := strings.HasPrefix(r.Header.Get("Mcp-Protocol-Version"), "2026")
	a.mu.Lock()
	told := a.told[session]
	if r.Method == http.MethodDelete {
		delete(a.told, session)
	}
	a.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	e, err := jsonrpc.Scan(body)
	switch {
	case r.Method == http.MethodPost && err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case e.Method == "initialize":
		session = rand.Text()
		a.mu.Lock()
		a.told[session] = make(chan []byte, 64)
		a.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", session)
	case told == nil && !modern:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(jsonrpc.NewError(e.ID, -32000, "no such session", nil)) // who is gone needs no answer; so below
		return
	case r.Method == http.MethodGet:
		rc := sseHead(w)
		for err := rc.Flush(); err == nil; err = rc.Flush() {
			select {
			case frame := <-told:
				_, _ = fmt.Fprintf(w, "data: %s\n\n", frame)
			case <-r.Context().Done():
				return
			}
		}
		return
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		return
	case e.Kind != jsonrpc.Request:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if e.Method != "tools/call" {
		w.Header().Set("Content-Type", "application/json")
		if modern {
			w.WriteHeader(http.StatusNotFound) // the only methods that it is asked are unknown in that era
		}
		_, _ = w.Write(a.other(e))
		return
	}
	rc, events := http.NewResponseController(w), false
	write := func(frame []byte, tail string) {
		switch {
		case events:
			_, _ = fmt.Fprintf(w, "data: %s%s", frame, tail)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(frame)
		}
	}
	a.call(session, e, chaosOut{
		note: func(frame []byte) {
			if !events {
				events = true
				sseHead(w)
			}
			write(frame, "\n\n")
			_ = rc.Flush()
		},
		answer: func(frame []byte) { write(frame, "\n\n") },
		half: func(frame []byte) {
			write(frame, "")
			_ = rc.Flush()
		},
		tell: func(frame []byte) { told <- frame },
	}, r.Context().Done())
}

// serveStdio is the agent over stdin and stdout. A process is a session.
func (a *chaosAgent) serveStdio() error {
	session := rand.Text()
	var mu sync.Mutex
	write := func(frame []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.Write(frame) // stdin ends when nobody reads any more
	}
	line := func(frame []byte) { write(append(frame, '\n')) }
	half := func(frame []byte) {
		mu.Lock() // for good: what another call writes before the process ends would be a part of this line, and lost
		_, _ = os.Stdout.Write(frame)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // the end
		}
		e, err := jsonrpc.Scan(text)
		switch {
		case err != nil || e.Kind != jsonrpc.Request:
		case e.Method == "tools/call":
			go a.call(session, e, chaosOut{note: line, answer: line, half: half, tell: line}, nil)
		default:
			line(a.other(e))
		}
	}
}

func newChaosAgent(name string) *chaosAgent {
	return &chaosAgent{name: name, told: map[string]chan []byte{}}
}

// serveChaos is the agent NAME:PORT over HTTP.
func serveChaos(ctx context.Context, arg string) error {
	name, port, _ := strings.Cut(arg, ":")
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		return err
	}
	return serveChildAt(ctx, n, newChaosAgent(name))
}
