package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demoUI starts the demo with something in the environment by which its processes are found.
func demoUI(t *testing.T, env ...string) (s *ptyRun, mark string) {
	t.Helper()
	mark = "MCPHUD_TEST_STACK=demo" + strconv.FormatInt(time.Now().UnixNano(), 36)
	return startUIWith(t, append(env, mark, "XDG_RUNTIME_DIR="+t.TempDir()), "demo"), mark
}

func (s *ptyRun) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.f, keys); err != nil {
		t.Fatal(err)
	}
}

// The demo opens each agent, each through the router, and all in one, and shows the processes below.
func TestDemo(t *testing.T) {
	s, mark := demoUI(t)
	s.shows("reset_counter")
	s.types(t, "1")
	for _, name := range []string{"everything", "fault", "demo@router", "everything@router", "fault@router", "all@router"} {
		s.shows(name)
	}
	s.types(t, ":stack\r")
	s.shows("router")
	s.shows("restarts")
	if n := len(marked(t, mark)); n < 5 {
		t.Errorf("%d processes", n)
	}
	s.types(t, "r")
	s.shows("restart demo: done")
	s.types(t, "q")
	if code := s.exit(); code != 0 || !s.restored() {
		t.Errorf("exit %d, terminal restored: %v", code, s.restored())
	}
	await(t, "all processes to be gone", func() bool { return len(marked(t, mark)) == 0 })
}

func TestDemoKilledLeavesNothing(t *testing.T) {
	s, mark := demoUI(t)
	s.shows("reset_counter")
	s.signal(syscall.SIGKILL)
	s.exit()
	await(t, "all processes to be gone", func() bool { return len(marked(t, mark)) == 0 })
}

// What does not start is said on the screen, which is the one with its log.
func TestDemoSaysWhatDoesNotStart(t *testing.T) {
	s, _ := demoUI(t, asBroken+"=router")
	s.shows("router does not start")
	s.shows("the flux is out")
	s.shows("restarts")
	s.signal(os.Interrupt)
	s.types(t, "q")
	s.exit()

	cmd := command(t, "demo", "--format", "json")
	cmd.Env = append(cmd.Env, asBroken+"=agent")
	cmd.Stdin = strings.NewReader("q\n")
	if o := finish(t, cmd); o.code != exitUnreachable || !strings.Contains(o.errorLine(t).Message, "the flux is out") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}
