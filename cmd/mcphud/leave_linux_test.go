package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// modesRestored says which mode that the UI switched on stayed on, "" if none.
func modesRestored(out string) string {
	for _, mode := range []string{"?1049", "?1002", "?1006", "?2004", "?25"} {
		on, off := "h", "l"
		if mode == "?25" {
			on, off = off, on
		}
		if strings.LastIndex(out, "\x1b["+mode+on) > strings.LastIndex(out, "\x1b["+mode+off) {
			return mode
		}
	}
	return ""
}

// marked are the processes that carry a variable in their environment.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestLeave ends the UI in every state a server can be in, by key and by
// signal: no process stays, no goroutine (the program looks itself), and the
// terminal is as it was.
func TestLeave(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	stdio := func(mode behave.Mode) []string {
		s := faketest.Stdio(t, mode)
		return append([]string{"--", s.Command}, s.Args...)
	}
	states := []struct {
		name  string
		args  []string
		shows string
		keys  []string // typed then, each followed by what it makes appear
	}{
		{name: "connecting, stdio", args: stdio(behave.NoAnswer), shows: "Connecting"},
		{name: "connecting, http", args: []string{"http://" + silent.Addr().String() + "/mcp"}, shows: "Connecting"},
		{name: "connected", args: stdio(behave.Good), shows: "rpc_error"},
		{name: "connected, modern", args: stdio(behave.Modern), shows: "rpc_error"},
		{name: "ignoring the end", args: stdio(behave.IgnoreTerm), shows: "rpc_error"},
		{name: "with grandchildren", args: stdio(behave.Fork), shows: "rpc_error"},
		{name: "calling", args: stdio(behave.Good), shows: "rpc_error", keys: []string{"/wait\r", "never", "\r", "press ctrl+g", "\x07", "to cancel"}},
		{name: "backoff", args: stdio(behave.ExitAtOnce), shows: "Error"},
		{name: "in a dialog", args: stdio(behave.Good), shows: "rpc_error", keys: []string{"?", "type to search"}},
	}
	for i, st := range states {
		for j, how := range []any{"q", syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, "\x03\x03"} {
			if !budget.All() && (i+j)%4 != 1 {
				continue // each state and each way is there once at least
			}
			if st.name == "in a dialog" && how == "q" {
				continue // a letter to search for
			}
			t.Run(fmt.Sprintf("%s, by %v", st.name, strings.Trim(strconv.Quote(fmt.Sprint(how)), `"`)), func(t *testing.T) {
				t.Parallel()
				mark := "MCPHUD_TEST_MARK=" + filepath.Base(t.TempDir()) + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(t.Name(), " ", "_")
				s := startUIWith(t, []string{mark}, st.args...)
				s.ended = func(tty *os.File) {
					const want = unix.ECHO | unix.ICANON | unix.ISIG
					if a, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil || a.Lflag&want != want {
						t.Errorf("the terminal stays in raw mode: %+v %v", a, err)
					}
				}
				s.shows(st.shows)
				if n := len(marked(t, mark)); n < 2 && strings.HasPrefix(st.shows, "rpc") {
					t.Fatalf("%d processes run, want the program and its server", n)
				}
				for i := 0; i < len(st.keys); i += 2 {
					_, _ = io.WriteString(s.f, st.keys[i])
					s.shows(st.keys[i+1])
				}
				switch how := how.(type) {
				case syscall.Signal:
					s.signal(how)
				case string:
					if st.name == "calling" && how == "q" { // the first goes back to the list
						_, _ = io.WriteString(s.f, "q")
						s.shows("· runs")
						_, _ = io.WriteString(s.f, "q")
						s.shows("is running.")
						how = "y"
					}
					_, _ = io.WriteString(s.f, how)
				}
				code := s.exit()
				if code == exitLeak || code < 0 || code == 2 {
					t.Errorf("exit %d\n%s", code, s.end())
				}
				if mode := modesRestored(s.written()); mode != "" {
					t.Errorf("mode %s stays on", mode)
				}
				require.Eventually(t, "all processes to be gone", func() bool { return len(marked(t, mark)) == 0 })
			})
		}
	}
}
