package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
)

// served is `mcphud agent` in a process of its own, listening.
type served struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string // of the MCP endpoint
	home string // HOME and working folder
	http *http.Client

	mu     sync.Mutex
	stderr bytes.Buffer
	exited chan struct{}
	code   int // once exited is closed
}

// maxKept is how much of a process's stderr is kept, of the beginning: some servers flood it, and the kernel counts the memory of this
// process as that of its children, whose peak is measured.
const maxKept = 16 << 20

// Write takes the process's stderr.
func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stderr.Write(p[:min(len(p), max(0, maxKept-s.stderr.Len()))])
	return len(p), nil
}

func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

var readyLine = regexp.MustCompile(`(?m)^listening on (http://\S+/mcp)$`)

// serveAgent starts the agent on a free port, unless args name one, and waits until it says that it is ready.
func serveAgent(t *testing.T, args ...string) *served {
	t.Helper()
	return serveIn(t, t.TempDir(), nil, args...)
}

// serveIn is serve with that folder as the home and more environment.
func serveIn(t *testing.T, home string, env []string, args ...string) *served {
	t.Helper()
	if !strings.Contains(strings.Join(append(args, env...), " "), "port") && !strings.Contains(strings.Join(env, " "), "AGENT_PORT") {
		args = append([]string{"--port", "0"}, args...)
	}
	return launch(t, agentCommand(t, home, env, args...), readyLine)
}

// launch starts a server and waits until it says where it listens, which ready finds.
func launch(t *testing.T, cmd *exec.Cmd, ready *regexp.Regexp) *served {
	t.Helper()
	s := &served{t: t, cmd: cmd, home: cmd.Dir, exited: make(chan struct{})}
	s.cmd.Stderr = s
	tr := &http.Transport{}
	s.http = &http.Client{Transport: tr}
	require.NoError(t, s.cmd.Start())
	go func() {
		_ = s.cmd.Wait()
		s.code = s.cmd.ProcessState.ExitCode()
		close(s.exited)
	}()
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if s.running() {
			s.signal(syscall.SIGTERM)
		}
		if code := s.exit(); code != 0 && code != cli.ExitInterrupted && code != -1 {
			t.Errorf("the server ended with %d: %s", code, s.log())
		}
	})
	require.Eventually(t, "the server to be ready", func() bool { return ready.MatchString(s.log()) || !s.running() })
	m := ready.FindStringSubmatch(s.log())
	if m == nil {
		t.Fatalf("the server ended with %d: %s", s.exit(), s.log())
	}
	s.url = m[1]
	return s
}

// agentCommand prepares `mcphud agent` with that home.
func agentCommand(t *testing.T, home string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, append([]string{"agent"}, args...)...)
	cmd.Dir = home
	cmd.Env = append(cmd.Env, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_STATE_HOME="+filepath.Join(home, ".state"),
		"XDG_DATA_HOME="+filepath.Join(home, ".data"), "XDG_CACHE_HOME="+filepath.Join(home, ".cache"), "TMPDIR="+filepath.Join(home, "tmp"),
		"AGENT_PORT=", "AGENT_CONCURRENCY=", "AGENT_TOKEN=", "AGENT_MODEL=", "AGENT_MODEL_URL=", "AGENT_MODEL_KEY=")
	cmd.Env = append(cmd.Env, env...)
	require.NoError(t, os.MkdirAll(filepath.Join(home, "tmp"), 0o700))
	return cmd
}

// refused runs the agent, which must end at once with exit code 1 and nothing on stdout.
func refused(t *testing.T, env []string, args ...string) errorLine {
	t.Helper()
	cmd := agentCommand(t, t.TempDir(), env, args...)
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	o := finish(t, cmd)
	if o.code != cli.ExitFailure || o.out != "" {
		t.Fatalf("%v: exit %d after %v, stdout %q, stderr %s", args, o.code, o.took, o.out, o.stderr)
	}
	return o.errorLine(t)
}

func (s *served) running() bool {
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

func (s *served) signal(sig os.Signal) { _ = s.cmd.Process.Signal(sig) }

// exit waits for the end and returns the exit code, -1 for a death by signal.
func (s *served) exit() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		<-s.exited
		s.t.Errorf("the server did not end within a minute: %s", s.log())
	}
	return s.code
}

// httpReply is an HTTP answer, read to its end.
type httpReply struct {
	status int
	header http.Header
	body   string
}

func (s *served) send(method, url, body string, headers ...string) (httpReply, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return httpReply{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.http.Do(req)
	if err != nil {
		return httpReply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return httpReply{res.StatusCode, res.Header, string(b)}, err
}

// addr is where it listens, without a scheme.
func (s *served) addr() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
}

// get fetches a path beside the endpoint.
func (s *served) get(path string, headers ...string) httpReply {
	s.t.Helper()
	r, err := s.send(http.MethodGet, strings.TrimSuffix(s.url, "/mcp")+path, "", headers...)
	if err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
	return r
}

// post sends one frame to the endpoint without a session, as the simplest of callers do.
func (s *served) post(frame string, headers ...string) httpReply {
	s.t.Helper()
	r, err := s.send(http.MethodPost, s.url, frame, headers...)
	if err != nil {
		s.t.Fatalf("POST %s: %v", frame, err)
	}
	return r
}

// rpcAnswer is a decoded answer to a call.
type rpcAnswer struct {
	Result struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
		ServerInfo        struct{ Name, Version string }
	}
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}

	body string // all of it
}

// String is for failures of tests.
func (a rpcAnswer) String() string { return a.body }

func (r httpReply) rpc(t *testing.T) (a rpcAnswer) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &a); err != nil {
		t.Fatalf("status %d, not JSON: %v: %.500s", r.status, err, r.body)
	}
	a.body = r.body
	return a
}

// call calls a tool and returns its answer.
func (s *served) call(tool, arguments string) rpcAnswer {
	s.t.Helper()
	return s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`).rpc(s.t)
}

// many runs f so often at a time.
func many(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// text is the first text of a result that is not an error.
func (a rpcAnswer) text(t *testing.T) string {
	t.Helper()
	if a.Error != nil || a.Result.IsError || len(a.Result.Content) == 0 {
		t.Fatalf("no result: %s", a)
	}
	return a.Result.Content[0].Text
}

// async starts a call that nobody waits for, and returns the id of its task.
func (s *served) async(tool, arguments string) string {
	s.t.Helper()
	r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{"async":true}}}`)
	var a struct{ TaskID string }
	if err := json.Unmarshal(r.rpc(s.t).Result.StructuredContent, &a); err != nil || a.TaskID == "" {
		s.t.Fatalf("no task: %d %s", r.status, r.body)
	}
	return a.TaskID
}

// taskState is what a poll tells.
type taskState struct {
	Status        string
	StatusMessage string
	Result, Error json.RawMessage
}

func (s *served) task(path string) (st taskState) {
	s.t.Helper()
	r := s.get(path)
	if err := json.Unmarshal([]byte(r.body), &st); err != nil {
		s.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return st
}

// The size that is given holds for lines on stdin too, and whoever sends more is told under the id of the call.
func TestA7_RequestSizeOverStdio(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		size int
		want string
	}{
		{nil, 2 << 20, `"id":7,"error"`},
		{[]string{"--max-request-size", "3mb"}, 2 << 20, `"id":7,"result"`},
		{[]string{"--max-request-size", "3mb"}, 4 << 20, `"id":7,"error"`},
		{[]string{"--max-request-size", "10mb"}, 2 << 20, `"id":7,"result"`},
	} {
		cmd := command(t, append([]string{"agent", "--stdio", "--ephemeral"}, c.args...)...)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		go func() {
			_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"`+strings.Repeat("x", c.size)+`"}}}`+"\n")
		}()
		answer, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.Contains(answer, c.want) {
			t.Errorf("%q with a line of %d bytes: %v, %.200s", c.args, c.size, err, answer)
		}
		_ = in.Close() // not before: the end of stdin cancels what still runs
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

// A client sends notifications/initialized once, after the answer to initialize, and what it asks for then is answered.
func TestP4_InitializedIsSentOnce(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral")
	for _, how := range []string{"stdio", "http"} {
		journal := filepath.Join(t.TempDir(), "journal.jsonl")
		c := command(t, "tools", "list", "--protocol", "2025-11-25", "--journal", journal)
		if how == "http" {
			c.Args = append(c.Args, "--url", "http://"+s.addr()+"/mcp")
		} else {
			c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral")
		}
		if out := finish(t, c).ok(t); !strings.Contains(out, "echo") {
			t.Errorf("%s: %s", how, out)
		}
		raw, err := os.ReadFile(journal)
		require.NoError(t, err)
		var order []string
		for line := range strings.Lines(string(raw)) {
			for _, method := range []string{`"method":"initialize"`, `"method":"notifications/initialized"`, `"method":"tools/list"`} {
				if strings.Contains(line, `"dir":"out","kind":"`) && !strings.Contains(line, `"kind":"http"`) && strings.Contains(line, method) {
					order = append(order, method)
				}
			}
		}
		if n := strings.Count(fmt.Sprint(order), "notifications/initialized"); n != 1 {
			t.Errorf("%s: sent %d times: %q", how, n, order)
		}
		if at := slices.Index(order, `"method":"notifications/initialized"`); at < 1 || slices.Index(order, `"method":"tools/list"`) < at || slices.Index(order, `"method":"initialize"`) > at {
			t.Errorf("%s: in the order %q", how, order)
		}
	}
}
