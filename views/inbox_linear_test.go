package views_test

import (
	"context"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// console is linear mode with its stdin and stdout.
type console struct {
	in  *io.PipeWriter
	mu  sync.Mutex
	out strings.Builder
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

// enter types a line and returns what was printed since the last one.
func (c *console) enter(line string) string {
	_, _ = io.WriteString(c.in, line+"\n") // it ended: what is missing is told by what was printed
	time.Sleep(2 * time.Second)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.out.String()
	c.out.Reset()
	return s
}

// number is the choice whose line has a text.
func number(t *testing.T, out, text string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^(\d+)\) .*` + regexp.QuoteMeta(text)).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("there is no choice %q in\n%s", text, out)
	}
	return m[1]
}

func inLinear(t *testing.T, serve tuitest.Serve, f func(*console)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		inLinearOn(t, session.Options{
			Pending: pending.New(pending.Options{Attended: true}),
			Dial:    func(config.Server) (transport.Transport, bool) { return transport.NewMemory(serve), true },
		}, config.Server{Name: "asker", Transport: config.Stdio, Command: "memory"}, f)
	})
}

// inLinearOn tries to connect a server, and opens its tools in linear mode.
func inLinearOn(t *testing.T, o session.Options, cfg config.Server, f func(*console), deps ...views.Deps) {
	t.Helper()
	m := session.NewManager(o)
	if _, err := m.Register(cfg); err != nil {
		t.Fatal(err)
	}
	_ = m.Connect(t.Context(), cfg.Name) // the screen says how it went
	runLinear(t, m, "tools", views.All(oneOf(deps)), f)
	assert.NoError(t, m.Close())
	time.Sleep(time.Minute)
}

// runLinear opens a screen in linear mode.
func runLinear(t *testing.T, m *session.Manager, start string, screens []*tui.Screen, f func(*console)) {
	t.Helper()
	r, w := io.Pipe()
	c := &console{in: w}
	done := make(chan error, 1)
	go func() {
		done <- tui.Run(context.Background(), tui.Config{Views: screens, Sessions: m, Start: start, In: r, Out: c, Environ: []string{"TERM=dumb"}})
	}()
	f(c)
	w.Close()
	assert.NoError(t, <-done)
}

// In linear mode a question is a list of numbered fields and answers, while the call that caused it goes on.
func TestInboxLinear(t *testing.T) {
	serve, got := asker("elicitation/create", person)
	inLinear(t, serve, func(c *console) {
		c.enter("")
		out := c.enter("1")
		out = c.enter(number(t, out, "call ask"))
		assert.Contains(t, out, "asker asks: elicitation, i opens it")
		out = c.enter("i")
		for _, want := range []string{"✎ elicitation from asker", "because of tools/call ask", "▌ Who are you?", "name (required) = unset", "age = 42", "accept", "decline", "cancel", "answer later"} {
			assert.Contains(t, out, want)
		}
		accept := number(t, out, "accept")
		c.enter(number(t, out, "name (required)"))
		c.enter("Ada")
		out = c.enter(accept)
		if !strings.Contains(out, "call ask: done") || !strings.Contains(got.last(), `"name":"Ada"`) {
			t.Errorf("answered %s:\n%s", got.last(), out)
		}
		out = c.enter("inbox")
		assert.Contains(t, out, "✓ accepted")
	})
}

// In linear mode the fields of an answer that seldom matter are behind a choice, which shows them.
func TestInboxLinearShowsMoreFields(t *testing.T) {
	serve, got := asker("sampling/createMessage", chat)
	inLinear(t, serve, func(c *console) {
		c.enter("")
		c.enter(number(t, c.enter("1"), "call ask"))
		out := c.enter("i")
		assert.NotContains(t, out, "model (required)")
		out = c.enter(number(t, out, "show 4 more fields  image, role, model, stopReason"))
		accept := number(t, out, "accept")
		c.enter(number(t, out, `model (required) = "human"`))
		c.enter("Ada")
		c.enter("1")
		c.enter("Warm.")
		c.enter(accept)
		assert.Contains(t, got.last(), `"model":"Ada"`, `"text":"Warm."`)
	})
}

// The end of the input ends the program also where a question waits for it.
func TestInboxLinearEnds(t *testing.T) {
	serve, got := asker("elicitation/create", person)
	inLinear(t, serve, func(c *console) {
		c.enter("")
		c.enter(number(t, c.enter("1"), "call ask"))
		if s := got.last(); s != "" {
			t.Errorf("answered %s", s)
		}
	})
}
