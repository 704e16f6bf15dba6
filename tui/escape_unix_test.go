//go:build unix

package tui_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
)

// onTerminal runs the program on a terminal of its own. key presses a key and returns how long it took until something
// that contains want was written.
func onTerminal(t *testing.T, environ ...string) (key func(press, want string) time.Duration) {
	t.Helper()
	terminal, theirs, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 80}))
	m := session.NewManager(session.Options{})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tui.Run(ctx, tui.Config{
			Views: []*tui.Screen{newFruits(40).screen()}, Sessions: m, In: theirs, Out: theirs, Theme: "dark",
			Environ: append([]string{"TERM=xterm-256color"}, environ...),
		})
	}()
	var mu sync.Mutex
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		p := make([]byte, 64<<10)
		for {
			n, err := terminal.Read(p)
			if err != nil {
				return
			}
			mu.Lock()
			out.Write(p[:n])
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
		_ = m.Close()
		_ = theirs.Close()
		_ = terminal.Close()
		<-read
	})
	return func(press, want string) time.Duration {
		t.Helper()
		mu.Lock()
		out.Reset()
		mu.Unlock()
		start := time.Now()
		if _, err := terminal.WriteString(press); err != nil {
			t.Fatal(err)
		}
		for time.Since(start) < 30*time.Second {
			mu.Lock()
			found := bytes.Contains(out.Bytes(), []byte(want))
			mu.Unlock()
			if found {
				return time.Since(start)
			}
			time.Sleep(200 * time.Microsecond)
		}
		mu.Lock()
		defer mu.Unlock()
		t.Fatalf("%q did not write %q but %q", press, want, out.String())
		return 0
	}
}

// esc is on the screen like any other key where the terminal tells it apart, and soon where it does not.
func TestBudgetEscape(t *testing.T) {
	budget.Skip(t)
	for _, c := range []struct {
		name, esc string
		most      time.Duration
	}{
		{"esc beside another key, kitty's keyboard protocol", "\x1b[27u", 5 * time.Millisecond},
		{"esc beside another key, a terminal on this machine", "\x1b", 20 * time.Millisecond},
	} {
		key := onTerminal(t)
		key("", "fruit 0")
		open, esc := time.Hour, time.Hour
		for range 10 {
			open = min(open, key("?", "type to search"))
			esc = min(esc, key(c.esc, "fruit 5"))
		}
		budget.Beyond(t, c.name, esc, open, c.most)
	}
}

// What begins with esc and comes at once is not esc; what an editor gets is the terminal itself.
func TestSequencesAreNotEscape(t *testing.T) {
	key := onTerminal(t)
	key("", "fruit 0")
	key("\x1b[B", "> fruit 1")
	key("\x1bOB", "> fruit 2")
	key("?", "type to search")
	key("\x1b\x1b", "fruit 5")
	key("j", "> fruit 3")
}
