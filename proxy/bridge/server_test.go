//go:build unix

package bridge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
)

// serverMode is the variable that makes this test binary a server over stdio.
const serverMode = "BRIDGE_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve(mode)
		os.Exit(0)
	}
	leaktest.Main(m)
}

type stdioServer struct {
	mode string
	mu   sync.Mutex
	out  *bufio.Writer
	asks map[string]chan json.RawMessage
	n    int // initializations
	seen []string
	envs []string
}

type wire struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params struct {
		Name string         `json:"name"`
		Args map[string]any `json:"arguments"`
		Meta map[string]any `json:"_meta"`
		URI  string         `json:"uri"`
		Req  any            `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (s *stdioServer) write(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
	_ = s.out.Flush()
}

// serve is a server of both eras, or of the one that mode names; it answers calls in no particular order.
func serve(mode string) {
	s := &stdioServer{mode: mode, out: bufio.NewWriter(os.Stdout), asks: map[string]chan json.RawMessage{}, envs: os.Environ()}
	fmt.Fprintln(os.Stderr, "server starts in mode", mode)
	if mode == "exit" {
		os.Exit(3)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m wire
		if err := json.Unmarshal(line, &m); err != nil {
			s.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"one frame is one line"}}`)
			continue
		}
		if m.Method == "" {
			s.mu.Lock()
			c := s.asks[string(m.ID)]
			s.mu.Unlock()
			if c != nil {
				c <- append(m.Result, m.Error...)
			}
			continue
		}
		s.mu.Lock()
		s.seen = append(s.seen, m.Method)
		s.mu.Unlock()
		s.one(m)
	}
}

func (s *stdioServer) one(m wire) {
	switch m.Method {
	case "initialize":
		if s.mode == "modern" {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no initialize here"}}`, m.ID)
			return
		}
		s.n++
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"%d"}}}`, m.ID, os.Getpid())
	case "server/discover":
		switch s.mode {
		case "legacy":
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		case "exit-discover":
			os.Exit(5)
		default:
			s.write(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, m.ID)
		}
	case "subscriptions/listen":
		s.write(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
		s.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
	case "tools/call":
		go s.call(m)
	case "resources/subscribe", "resources/unsubscribe":
		s.write(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	default:
		if m.ID != nil {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	}
}

func (s *stdioServer) text(id json.RawMessage, text string) {
	quoted, _ := json.Marshal(text)
	s.write(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, id, quoted)
}

func (s *stdioServer) call(m wire) {
	arg := func(name string) string { v, _ := m.Params.Args[name].(string); return v }
	switch m.Params.Name {
	case "echo":
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // so that answers overtake each other
		s.text(m.ID, arg("text"))
	case "pid":
		s.text(m.ID, fmt.Sprint(os.Getpid()))
	case "fork":
		c := exec.Command("sleep", "300")
		_ = c.Start()
		s.text(m.ID, fmt.Sprint(c.Process.Pid))
	case "env":
		s.text(m.ID, strings.Join(s.envs, "\n"))
	case "cwd":
		dir, _ := os.Getwd()
		s.text(m.ID, dir)
	case "seen":
		s.mu.Lock()
		seen := strings.Join(s.seen, " ")
		s.mu.Unlock()
		s.text(m.ID, seen)
	case "progress":
		token, _ := json.Marshal(m.Params.Meta["progressToken"])
		for i := range 5 {
			s.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`, token, i, arg("text"))
		}
		s.text(m.ID, arg("text"))
	case "flood":
		token, _ := json.Marshal(m.Params.Meta["progressToken"])
		pad := strings.Repeat("x", 1000)
		for i := range 8000 {
			s.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":"%s"}}`, token, i, pad)
		}
		s.text(m.ID, "done")
	case "ask":
		c := make(chan json.RawMessage, 1)
		id := fmt.Sprintf(`"q%d"`, rand.Int64())
		s.mu.Lock()
		s.asks[id] = c
		s.mu.Unlock()
		s.write(`{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, id)
		s.text(m.ID, arg("text")+" "+string(<-c))
	case "changed":
		s.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		s.write(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, arg("uri"))
		s.text(m.ID, "ok")
	case "big":
		s.text(m.ID, strings.Repeat("b", 3<<20))
	case "noise":
		s.write("this is a log line on stdout\n\n[1,2")
		s.write("{\"jsonrpc\":\"2.0\",\r\"id\":%s,\r\"result\":{\"content\":[]}}", m.ID)
	case "wait": // for the end of the call, or of the process
		s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"waiting"}}`)
		for {
			time.Sleep(time.Millisecond)
			s.mu.Lock()
			over := slices.Contains(s.seen, "notifications/cancelled")
			s.mu.Unlock()
			if over {
				return
			}
		}
	case "die":
		fmt.Fprintln(os.Stderr, "about to die")
		os.Exit(7)
	default:
		s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Tool '%s' not found"}}`, m.ID, m.Params.Name)
	}
}
