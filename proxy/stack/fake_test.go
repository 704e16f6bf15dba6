package stack

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

// asFake is the environment variable that makes the test binary a process to supervise, and asParent one that supervises
// until it is killed.
const (
	asFake   = "MCPHUD_STACK_FAKE"
	asParent = "MCPHUD_STACK_PARENT"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asFake) != "":
		fake(os.Args[1:])
	case os.Getenv(asParent) != "":
		parent()
	default:
		leaktest.Main(m)
	}
}

// fake is a process such as `mcphud agent --port N --supervised`, with what goes wrong in --mode.
func fake(args []string) {
	if args[0] == "agent" || args[0] == "router" {
		args = args[1:]
	}
	f := flag.NewFlagSet("fake", flag.ExitOnError)
	mode, file, port := f.String("mode", "", ""), f.String("file", "", ""), f.Int("port", 0, "")
	supervised := f.Bool("supervised", false, "")
	_ = f.Parse(args)
	if *supervised {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(9)
		}()
	}
	switch *mode {
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "exit":
		fmt.Fprintln(os.Stderr, `{"error":{"kind":"Usage","message":"there is no such thing"}}`)
		os.Exit(1)
	case "exit once":
		if w, err := os.OpenFile(*file, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = w.Close()
			os.Exit(2)
		}
	case "silent":
		select {}
	case "fork":
		c := exec.Command("sleep", "1000")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			os.Exit(1)
		}
		fmt.Println("forked", c.Process.Pid)
	}
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ready, hung := make(chan struct{}), make(chan struct{})
	if *mode != "slow" {
		close(ready)
	}
	serve := http.NewServeMux()
	serve.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-ready:
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	serve.HandleFunc("/go", func(http.ResponseWriter, *http.Request) { close(ready) })
	serve.HandleFunc("/health", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
			<-r.Context().Done()
		default:
		}
	})
	serve.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"tools":{"calls":17},"queue":{"queued":3,"running":1}}`)
	})
	serve.HandleFunc("/hang", func(http.ResponseWriter, *http.Request) { close(hung) })
	serve.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) {
		fmt.Fprintln(os.Stderr, "\x1b[31mout of flux\x1b[0m")
		os.Exit(3)
	})
	fmt.Println("TOKEN", os.Getenv("AGENT_TOKEN"), "OWN", os.Getenv("OWN"))
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", ln.Addr())
	_ = http.Serve(ln, serve)
}

// parent supervises until it is killed, and says the pids of all that it started.
func parent() {
	exe, _ := os.Executable()
	env := map[string]string{asFake: "1", asParent: ""}
	s, err := New([]Spec{
		{Name: "own", Kind: Agent, Args: []string{"--mode", "deaf"}},
		{Name: "foreign", Kind: Server, Command: exe, Args: []string{"--mode", "deaf"}},
	}, Options{Program: exe, Env: func(string) map[string]string { return env }})
	if err == nil {
		s.Start()
		err = s.Ready(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.PIDs())
	select {}
}

// supervise starts a stack of fakes, which ends with the test.
func supervise(t *testing.T, o Options, specs ...Spec) *Stack {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	for i := range specs {
		if specs[i].Kind == "" {
			specs[i].Kind = Agent
		}
		if specs[i].Kind == Server && specs[i].Command == "" {
			specs[i].Command = exe
		}
	}
	o.Program = exe
	if o.Env == nil {
		o.Env = func(string) map[string]string { return map[string]string{asFake: "1"} }
	}
	o.Poll = cmp.Or(o.Poll, 20*time.Millisecond)
	o.Backoff.First = cmp.Or(o.Backoff.First, time.Millisecond)
	s, err := New(specs, o)
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		s.Close(ctx)
		if t.Failed() {
			for _, st := range s.Processes() {
				t.Logf("%+v", st)
				for _, l := range s.Log(st.Name, 0) {
					t.Logf("  %s %s", l.Stream, l.Text)
				}
			}
		}
	})
	return s
}

// bounded is a context that ends long after everything should have happened.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func ready(t *testing.T, s *Stack) {
	t.Helper()
	require.NoError(t, s.Ready(bounded(t)))
}

// status is a process' status.
func (s *Stack) statusOf(name string) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name].status
}

// until waits for a process to be as ok wants it, with every change.
func until(t *testing.T, s *Stack, name string, ok func(Status) bool) Status {
	t.Helper()
	end := time.After(time.Minute)
	for {
		st := s.statusOf(name)
		if ok(st) {
			return st
		}
		select {
		case <-s.Changed():
		case <-end:
			t.Fatalf("it never came to be: %+v", st)
		}
	}
}

// visit asks a fake for one of its pages.
func visit(t *testing.T, s *Stack, name, path string) {
	t.Helper()
	c := newClient("")
	defer c.CloseIdleConnections()
	_, _, _ = get(bounded(t), c, s.statusOf(name).URL, path, "") // some end the process before they answer
}

// says waits for a line of a process' log.
func says(t *testing.T, s *Stack, name, text string) string {
	t.Helper()
	found := ""
	until(t, s, name, func(Status) bool {
		for _, l := range s.Log(name, 0) {
			if strings.Contains(l.Text, text) {
				found = l.Text
				return true
			}
		}
		return false
	})
	return found
}
