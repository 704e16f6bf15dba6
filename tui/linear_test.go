package tui_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// console is linear mode with its stdin and stdout.
type console struct {
	t    *testing.T
	in   *io.PipeWriter
	mu   sync.Mutex
	out  strings.Builder
	done chan error
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

// enter types lines and returns what was printed since the last call.
func (c *console) enter(lines ...string) string {
	c.t.Helper()
	for _, l := range lines {
		_, _ = io.WriteString(c.in, l+"\n")
		time.Sleep(time.Second)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.out.String()
	c.out.Reset()
	return s
}

func (c *console) has(got string, want ...string) {
	c.t.Helper()
	for _, w := range want {
		assert.Contains(c.t, got, w)
	}
}

func inLinear(t *testing.T, f func(*testing.T, *console, *fruits), more ...*tui.Screen) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		c := &console{t: t, in: w, done: make(chan error, 1)}
		v := newFruits(12)
		go func() {
			c.done <- tui.Run(context.Background(), tui.Config{
				Views: append([]*tui.Screen{v.screen(), (&other{}).screen()}, more...), In: r, Out: c, Environ: []string{"TERM=dumb"},
			})
		}()
		f(t, c, v)
		w.Close()
		assert.NoError(t, <-c.done)
		time.Sleep(time.Minute)
	})
}

func TestLinearListsPicksAndRuns(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.has(c.enter(), "== Fruits", "fruit basket", "1) fruit 0", "12) fruit 11")
		got := c.enter("2")
		c.has(got, "picked fruit 1")
		assert.NotContains(t, got, "fruit basket")
		c.has(c.enter("99"), "there is no 99; the numbers go to 12")
		c.has(c.enter("nonsense"), "there is no command nonsense; help lists them")
		c.has(c.enter("?"), "fruits.eat [enter]: Eats the fruit, which takes 3 s.", "app.quit [q]")
		c.has(c.enter("help"), "fruits.eat [enter]: Eats the fruit, which takes 3 s.")
		for range 2 { // what is listed is said again, though it is not new
			if got := c.enter("/11"); strings.Count(got, "1) fruit 11") != 1 || strings.Contains(got, "2) ") {
				t.Errorf("filtering printed\n%s", got)
			}
		}
		c.has(c.enter("/"), "1) fruit 0", "12) fruit 11")
		c.has(c.enter(""), "fruit basket")
		c.has(c.enter("other"), "== Other", "came with <nil>")
		c.has(c.enter("esc"), "== Fruits")
	})
}

func TestLinearRunsAndCancelsCalls(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter()
		c.enter("enter")
		c.has(c.enter("x"), "cancelling eat fruit 0", "eat fruit 0: failed: context canceled", "eat fruit 0: cancelled")
		c.enter("tab", "enter") // a key of the pane that has not the focus
		c.has(c.enter("x"), "cancelling eat fruit 0")
		c.enter("fruits.eat")
		close(f.block)
		c.has(c.enter(), "eat fruit 0: done")
	})
}

func TestLinearAsks(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter()
		c.has(c.enter("D"), "Bin it?", "It cannot be taken back.", "y) bin", "n) cancel (an empty line too)")
		c.has(c.enter("y"), "ran bin")
		c.has(c.enter("R"), "name: [fruit 0] (. cancels)")
		c.has(c.enter("apple"), "1) apple")
		c.enter("R", ".")
		c.has(c.enter("F"), "it is ^[[31mrotten")
		c.has(c.enter("y v"), "apple")
	})
}

func TestLinearEndOfInputWaitsForCalls(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter("enter")
		c.in.Close()
		time.Sleep(time.Hour)
		select {
		case err := <-c.done:
			t.Errorf("it ended while a call ran: %v", err)
			c.done <- err
		default:
		}
		close(f.block)
		c.has(c.enter(), "eat fruit 0: done")
	})
}

// Lines that are piped in all at once take effect one after the other.
func TestLinearPipedLinesWait(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter()
		_, _ = io.WriteString(c.in, "enter\n3\nother\nesc\n")
		got := c.enter()
		c.has(got, "a call is running; then: 3 (x cancels the call)")
		assert.NotContains(t, got, "picked")
		c.has(c.enter("q"), "Quit mcphud?", "A call is running.")
		c.enter("n")
		close(f.block)
		got = c.enter()
		c.has(got, "eat fruit 0: eaten", "picked fruit 2", "== Other", "== Fruits")
	})
}

// What a screen is about to ask for is waited for, though no operation runs yet.
func TestLinearWaitsForWhatIsPending(t *testing.T) {
	var came atomic.Bool
	late := (&other{}).screen()
	late.ID, late.Title, late.Actions = "late", "Late", nil
	late.Pending = func(*tui.Ctx) bool { return !came.Load() }
	inLinear(t, func(t *testing.T, c *console, _ *fruits) {
		c.enter()
		got := c.enter("late", "fruits")
		c.has(got, "== Late")
		assert.NotContains(t, got, "== Fruits")
		came.Store(true)
		c.has(c.enter(""), "== Fruits")
	}, late)
}

// What each of several filters leaves is printed, also where they were piped in while a call ran.
func TestLinearPipedFiltersAreShown(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, f *fruits) {
		c.enter()
		_, _ = io.WriteString(c.in, "enter\n/fruit 3\n/fruit 7\n/\n")
		c.enter()
		close(f.block)
		c.has(c.enter(), "1) fruit 3\n", "1) fruit 7\n")
	})
}

// steps is a screen with an action of several steps, of which the first takes a while.
type steps struct {
	other
	took []string
}

func (s *steps) screen() *tui.Screen {
	as := s.other.screen()
	as.ID, as.Title = "steps", "Steps"
	as.Actions, as.Handle, as.Plain = s.Actions, s.Handle, s.Plain
	return as
}

func (s *steps) Actions() []tui.Action {
	after := func(d time.Duration, name string) tea.Cmd {
		return func() tea.Msg {
			time.Sleep(d)
			return tui.Rendered{View: "steps", Key: name}
		}
	}
	return []tui.Action{{
		ID: "steps.go", Keys: []string{"s"}, Title: "go", Help: "Goes.", Group: "Steps",
		Run: func(*tui.Ctx) tea.Cmd {
			return tea.Sequence(after(40*time.Millisecond, "first"), tea.Batch(after(30*time.Millisecond, "second"), nil), after(0, "third"))
		},
	}}
}

func (s *steps) Handle(_ *tui.Ctx, m tea.Msg) (tea.Cmd, bool) {
	if r, ok := m.(tui.Rendered); ok {
		s.took = append(s.took, r.Key)
	}
	return nil, true
}

func (s *steps) Plain(_ *tui.Ctx, w io.Writer) { fmt.Fprintln(w, "steps:", strings.Join(s.took, " ")) }

// The commands of a sequence run one after the other, as they do on a screen.
func TestLinearRunsSequencesInOrder(t *testing.T) {
	inLinear(t, func(t *testing.T, c *console, _ *fruits) {
		c.enter("steps")
		c.has(c.enter("s"), "steps: first second third")
	}, (&steps{}).screen())
}

// Of two things with one title each can be chosen, and where nothing can be, the reasons are said.
func TestLinearPicksByGroup(t *testing.T) {
	took := ""
	take := func(what string) func(*tui.Ctx) tea.Cmd {
		return func(*tui.Ctx) tea.Cmd { took = what; return nil }
	}
	v := (&other{}).screen()
	v.ID, v.Title = "send", "Send"
	v.Actions = func() []tui.Action {
		return []tui.Action{
			{ID: "send.to", Keys: []string{"s"}, Title: "send to", Help: "Sends.", Group: "Send", Run: func(c *tui.Ctx) tea.Cmd {
				return c.Pick("Send to", []tui.Option{{Group: "Servers", Title: "one", Run: take("server")}, {Group: "Versions", Title: "one", Run: take("version")}, {Group: "Versions", Title: "one", Run: take("other")}})
			}},
			{ID: "send.off", Keys: []string{"f"}, Title: "send off", Help: "Sends.", Group: "Send", Run: func(c *tui.Ctx) tea.Cmd {
				return c.Pick("Send off", []tui.Option{{Group: "Servers", Title: "one", Disabled: "it is not connected"}})
			}},
		}
	}
	inLinear(t, func(_ *testing.T, c *console, _ *fruits) {
		c.enter("send")
		c.has(c.enter("s"), "one, Versions one, Versions one 2")
		c.enter("Versions one")
		c.has(c.enter("f"), "nothing can be chosen: one: it is not connected")
	}, v)
	if took != "version" {
		t.Errorf("chose the %q", took)
	}
}

// What sums up a page stands below its choices.
func TestLinearFootAfterChoices(t *testing.T) {
	paged := &tui.Screen{
		ID: "paged", Title: "Paged", Panes: []tui.PaneSpec{{ID: "list", Title: "Paged"}},
		Handle: func(*tui.Ctx, tea.Msg) (tea.Cmd, bool) { return nil, true }, Draw: func(*tui.Ctx, *tui.Pane) *tea.Cursor { return nil },
		Page:    func(*tui.Ctx) page.Page { return *(&page.Page{Title: "Paged", Foot: "in all 2"}).Note("what it is") },
		Choices: func(*tui.Ctx) []tui.Choice { return []tui.Choice{{Label: "the first"}, {Label: "the second"}} },
	}
	inLinear(t, func(t *testing.T, c *console, _ *fruits) {
		c.enter()
		for _, line := range []string{":paged", ""} {
			if got := c.enter(line); !strings.Contains(got, "what it is\n1) the first\n2) the second\nin all 2\n") || strings.Count(got, "in all 2") != 1 {
				t.Errorf("it printed\n%s", got)
			}
		}
	}, paged)
}
