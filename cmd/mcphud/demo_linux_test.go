package main

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	verbserve "github.com/mcphud/mcphud/cmd/verb/serve"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
)

// demoUI starts the demo with something in the environment by which its processes are found.
func demoUI(t *testing.T, env ...string) (s *ptyRun, mark string) {
	t.Helper()
	mark = "MCPHUD_TEST_STACK=demo" + strconv.FormatInt(time.Now().UnixNano(), 36)
	return startUIWith(t, append(env, mark, "XDG_RUNTIME_DIR="+t.TempDir()), "demo"), mark
}

// The demo opens each agent, each through the router, and all in one, and shows the processes below.
func TestDemo(t *testing.T) {
	t.Parallel()
	s, mark := demoUI(t)
	s.shows("Try first")
	s.types(t, "\r") // a call through the router
	s.shows("matches outputSchema")
	s.types(t, ":demo\rjj\r")
	s.shows("waits for your answer")
	s.types(t, "x1")
	for _, name := range []string{"everything", "fault", "demo@router", "everything@router", "fault@router", "all@router"} {
		s.shows(name)
	}
	s.types(t, ":stack\r")
	s.shows("router")
	s.shows("restarts")
	require.Eventually(t, "five processes", func() bool { return len(marked(t, mark)) >= 5 }) // the router comes last
	s.types(t, "r")
	s.shows("restart demo: done")
	s.types(t, "1q")
	if code := s.exit(); code != 0 || !s.restored() {
		t.Errorf("exit %d, terminal restored: %v", code, s.restored())
	}
	require.Eventually(t, "all processes to be gone", func() bool { return len(marked(t, mark)) == 0 })
}

func TestDemoKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	s, mark := demoUI(t)
	s.shows("Try first")
	s.signal(syscall.SIGKILL)
	s.exit()
	require.Eventually(t, "all processes to be gone", func() bool { return len(marked(t, mark)) == 0 })
}

// What does not start is said on the screen, which is the one with its log.
func TestDemoSaysWhatDoesNotStart(t *testing.T) {
	long(t, "TestDemo")
	t.Parallel()
	s, _ := demoUI(t, asBroken+"=router")
	s.shows("router cannot start")
	s.shows("the flux is out")
	s.shows("restarts")
	s.signal(os.Interrupt)
	s.types(t, "1q")
	s.exit()

	cmd := command(t, "demo", "--format", "json")
	cmd.Env = append(cmd.Env, asBroken+"=agent")
	cmd.Stdin = strings.NewReader("q\n")
	if o := finish(t, cmd); o.code != cli.ExitUnreachable || !strings.Contains(o.errorLine(t).Message, "the flux is out") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}

// A process whose port was taken while it was away listens elsewhere, and the list of servers leads there.
func TestDemo_X7b_FollowsProcessesThatMove(t *testing.T) {
	home := t.TempDir()
	for k, v := range map[string]string{asMain: "1", "HOME": home, "XDG_RUNTIME_DIR": home, "MCPHUD_TAP_DIR": home} {
		t.Setenv(k, v)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	a, d := &app{&cli.App{Standard: cli.Standard{In: null, Out: null, Err: null}, Kill: &cli.Children{}, Sent: &cli.Redactor{}}}, verbserve.NewDemoStack()
	one := stack.AgentEntry{Name: "one", Of: "one", Flags: [][2]string{{"ephemeral", "true"}}}
	if d.Run, err = verbserve.RunStack(ctx, a.App, &stack.File{Agents: []stack.AgentEntry{one}, Router: &stack.RouterEntry{}}, true, d.Event, d.Listening); err != nil {
		t.Fatal(err)
	}
	defer d.Run.End(ctx)
	m := session.NewManager(session.Options{})
	defer m.Close()
	for _, e := range d.Run.Entries() {
		if _, err := m.Register(e.Server()); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	work, stop := context.WithCancel(ctx)
	defer stop()
	require.NoError(t, d.Attach(work, &tui.Config{Linear: true}, m, &wg))
	for _, s := range m.Servers() {
		assert.NoError(t, s.Connect(ctx))
	}
	for i, process := range []string{"one", "router"} {
		before := d.Run.Processes()[i]
		require.NoError(t, d.Run.Stop(ctx, process))
		for _, e := range d.Run.Entries() {
			s, _ := m.Server(e.Name)
			if e.Process == process || e.Routed && process == "router" {
				require.Eventually(t, e.Name+" to be disconnected", func() bool { return s.Status().State == session.Disconnected })
			} else if s.Status().State != session.Connected {
				t.Errorf("%s is not connected any more", e.Name)
			}
		}
		ln, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(before.Port))
		require.NoError(t, err)
		wg.Go(func() { // who has the port now does not know what we want
			for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
				_, _ = io.WriteString(conn, "HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
				_ = conn.Close()
			}
		})
		defer ln.Close()
		if err := d.Run.Run(ctx, process); err != nil {
			t.Errorf("%s: %v", process, err)
		}
		require.NoError(t, d.Run.Ready(ctx))
		now := d.Run.Processes()[i]
		if now.Port == before.Port {
			t.Fatalf("%s is where it was: %+v", process, now)
		}
		for _, e := range d.Run.Entries() {
			s, _ := m.Server(e.Name)
			require.Eventually(t, e.Name+" to be connected where it is", func() bool {
				st := s.Status()
				return st.State == session.Connected && st.URL == e.URL
			})
			if (e.Name == "one") == (process == "one") && !strings.Contains(e.URL, strconv.Itoa(now.Port)) {
				t.Errorf("%+v", e)
			}
			tool := "add"
			if e.Name == "all@router" {
				tool = "mcp__one__add"
			}
			require.Eventually(t, e.Name+" to answer", func() bool { // the router hears of it a moment later
				_, err := s.CallTool(ctx, tool, []byte(`{"a":1,"b":2}`), session.CallOptions{})
				return err == nil
			})
		}
	}
}
