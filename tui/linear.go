package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
)

// Bounds of what linear mode prints by itself at a time.
const (
	maxUnsolicited = 20  // lines that changed without a key
	maxAsked       = 400 // lines of a screen that was asked for
)

// linear runs the same App without a screen: it prints a line for each change and reads a line for each command, so
// that screen readers, logs and dumb terminals have all that the screen has. Nothing is ever overwritten.
type linear struct {
	app  *App
	out  *bufio.Writer
	line *promptLine
	msgs chan tea.Msg
	ctx  context.Context

	seen     map[string]bool // lines of the screen as printed last
	choices  []Choice
	states   map[string]session.State
	toasted  int
	question *prompt  // printed and waiting for its answer
	asking   *confirm // likewise
	view     string   // printed last
	fresh    bool     // the screen was entered, and is shown once what it begins with has come
	again    bool     // the screen is shown, all of it, once nothing happens any more: a filter has its effect
	queue    []string // lines that wait for a call
	urgent   []string // lines that do not
	ended    bool
}

func runLinear(ctx context.Context, cfg Config) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	cfg.Linear = true
	app, err := NewApp(work, cfg)
	if err != nil {
		return err
	}
	defer app.close()
	in, out := cfg.In, cfg.Out
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	line := &promptLine{w: out, on: cfg.In == nil && term.IsTerminal(os.Stdin.Fd())}
	l := &linear{
		app: app, out: bufio.NewWriter(line), line: line, ctx: work, msgs: make(chan tea.Msg),
		seen: map[string]bool{}, states: map[string]session.State{},
	}
	app.w, app.h = 100, 40
	lines, endLines := readLines(work, in)
	send := func(m tea.Msg) {
		select {
		case l.msgs <- m:
		case <-work.Done():
		}
	}
	app.send = send
	endPump := app.pump(send)
	err = l.loop(lines)
	stop()
	endPump()
	endLines()
	if app.crash != nil {
		return app.crash
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (l *linear) loop(lines <-chan string) error {
	fmt.Fprintln(l.out, "mcphud, linear mode. A number picks, /text filters, help lists the commands, an empty line shows the screen again, q quits.")
	l.begin()
	l.again = true // once the screens know the servers
	quiet := startQuiet()
	defer quiet.Stop()
	ready := false // the line before had its effect
	for !l.ended {
		if err := l.out.Flush(); errors.Is(err, syscall.EPIPE) {
			return nil // whoever read it has left
		} else if err != nil {
			return fmt.Errorf("writing to stdout: %w", err)
		}
		in := lines
		if !ready {
			in = nil
		} else if len(l.queue)+len(l.urgent) == 0 && l.idle() {
			l.line.prompt(l.app.current().ID)
		}
		asked := false
		select {
		case <-l.ctx.Done():
			return nil
		case m := <-l.msgs:
			l.handle(m)
			ready = false
			quiet.again()
		case <-quiet.C:
			ready = quiet.over()
		case line, ok := <-in:
			l.line.shown = false // the line was ended by who typed it
			if ok {
				l.take(strings.TrimSpace(line))
			} else {
				lines = nil // the end of the input is a quit that waits for what runs
			}
		}
		if ready && l.again && (l.view == "" || l.idle()) { // before the next line changes what was asked for
			l.again = false
			l.seen = map[string]bool{}
			l.show(true)
		}
		if ready && l.fresh { // before the numbers of the next line pick from it
			l.fresh = false
			l.show(true)
		}
		if ready {
			if line, ok := l.next(); ok {
				asked, ready = true, false
				quiet.again()
				l.command(line)
			}
		}
		if lines == nil && ready && len(l.queue)+len(l.urgent) == 0 && l.idle() {
			if len(l.app.ops.all) > 0 {
				fmt.Fprintln(l.out, "the input ended while a server waits for an answer: its call is cancelled")
			}
			l.ended = true
		}
		l.show(asked)
		if l.fresh && ready {
			ready = false
			quiet.again()
		}
	}
	return l.out.Flush()
}

// idle is whether a line can be carried out: nothing runs, or only what waits for a person.
func (l *linear) idle() bool {
	s := l.app.current()
	if s.Waits != nil && s.Waits(&l.app.ctx) {
		return true
	}
	if s.Pending != nil && s.Pending(&l.app.ctx) {
		return false
	}
	return len(l.app.ops.all) == 0 || l.app.inbox() != "" && len(l.app.ops.all) == l.app.ops.calls()
}

// take queues a line. What cancels goes before what waits.
func (l *linear) take(line string) {
	if l.app.ops.calls() == 0 || l.idle() {
		l.queue = append(l.queue, line)
		return
	}
	if l.atOnce(line) {
		l.urgent = append(l.urgent, line)
		return
	}
	l.queue = append(l.queue, line)
	if line != "" {
		fmt.Fprintln(l.out, "a call is running; then: "+safe.Line(line, 60)+" (x cancels the call)")
	}
}

// next is the line to carry out now: one that cannot wait, else the oldest one
// once nothing runs: what it is about may still be on its way.
func (l *linear) next() (string, bool) {
	if len(l.urgent) > 0 {
		line := l.urgent[0]
		l.urgent = l.urgent[1:]
		return line, true
	}
	if len(l.queue) == 0 || !l.idle() {
		return "", false
	}
	line := l.queue[0]
	l.queue = l.queue[1:]
	return line, true
}

// atOnce is whether a line is carried out while a call runs: what cancels, and the answer to a question.
func (l *linear) atOnce(line string) bool {
	return l.asking != nil || l.question != nil || line == "x" || line == "q" || line == "ctrl+c" || line == "?" || line == "help"
}

// handle gives a message to the App.
func (l *linear) handle(m tea.Msg) {
	switch x := m.(type) {
	case nil:
		return
	case tea.QuitMsg:
		l.ended = true
		return
	case printed:
		fmt.Fprintln(l.out, safe.Text(x.text))
		return
	case OpDone:
		if x.Slot != "" && x.Err == nil {
			break // not a call: its outcome is the screen
		}
		how := "done"
		if x.Err != nil {
			how = "failed: " + x.Err.Error()
		}
		fmt.Fprintln(l.out, safe.Line(x.Label+": "+how, 0)+took(x.Took))
	}
	_, cmd := l.app.Update(m)
	l.start(cmd)
}

// command carries out one line of input.
func (l *linear) command(line string) {
	a := l.app
	switch {
	case l.asking != nil:
		q := l.asking
		l.asking = nil
		i := q.find(line[:min(len(line), 1)])
		if i < 0 {
			i = q.at
		}
		l.start(q.answer(&a.ctx, i))
	case l.question != nil:
		l.answer(line)
	case line == "":
		l.seen = map[string]bool{}
	case line == "?" || line == "help":
		l.help()
	case strings.HasPrefix(line, "/"):
		l.again = true
		l.start(a.setFilter(line[1:], true))
	case strings.HasPrefix(line, ":"):
		l.start(a.command(line[1:]))
	default:
		l.word(line)
	}
	a.sync()
}

// word is a number, a key, or the name of a screen or action.
func (l *linear) word(line string) {
	a := l.app
	if n, err := strconv.Atoi(line); err == nil {
		if n < 1 || n > len(l.choices) {
			fmt.Fprintf(l.out, "there is no %d; the numbers go to %d\n", n, len(l.choices))
			return
		}
		l.start(l.choices[n-1].Run(&a.ctx))
		return
	}
	v := a.current()
	x, first := lookup(&a.ctx, v.actions, a.ctx.Focus, line)
	for _, p := range v.Panes { // nobody sees which of them has the focus
		if x == nil && !first {
			x, first = lookup(&a.ctx, v.actions, p.ID, line)
		}
	}
	if x == nil {
		var chord bool
		x, chord = lookup(&a.ctx, a.actions.global, "", line)
		first = first || chord
	}
	switch {
	case x != nil:
		l.start(a.runAnywhere(x))
		return
	case first:
		l.start(a.begin(line))
		return
	}
	l.start(a.command(line))
}

// answer gives a line to the question that is open; "." alone cancels.
func (l *linear) answer(line string) {
	p := l.question
	if line == "." {
		l.question, l.app.prompt = nil, nil
		l.start(p.cancel(l.app))
		return
	}
	if line == "" {
		line = p.edit.Value()
	}
	p.edit.SetValue(line)
	cmd := p.enter(l.app)
	if p.why != "" {
		fmt.Fprintln(l.out, safe.Line(p.why, 0)+"; try again, or . to cancel")
		return
	}
	l.question = nil
	l.start(cmd)
}

// show prints what changed: states of servers, messages, the screen's lines that are new, and what is asked.
func (l *linear) show(asked bool) {
	a := l.app
	if a.crash != nil {
		l.ended = true
		return
	}
	for i := range a.servers.rows {
		r := &a.servers.rows[i]
		if old := l.states[r.name]; old != r.state {
			l.states[r.name] = r.state
			if old != "" || r.state != session.Disconnected {
				fmt.Fprintln(l.out, safe.Line(strings.TrimSpace("server "+r.title+": "+r.called+" "+r.err), 0))
			}
		}
	}
	for ; l.toasted < a.toasts.seq; l.toasted++ {
		i := len(a.toasts.log) - (a.toasts.seq - l.toasted)
		if i >= 0 {
			fmt.Fprintln(l.out, a.toasts.log[i].Text)
		}
	}
	a.toasts.list = nil
	l.overlays()
	if !l.again {
		l.screen(asked)
	}
	if p := a.prompt; p != nil && p != l.question {
		l.question = p
		initial := ""
		if s := p.edit.Value(); s != "" && !p.secret {
			initial = " [" + safe.Line(s, 60) + "]"
		}
		fmt.Fprintf(l.out, "%s%s (. cancels)\n", strings.TrimSuffix(p.label, " "), initial)
	}
}

// overlays turns dialogs into lines.
func (l *linear) overlays() {
	a := l.app
	for len(a.overlays) > 0 {
		switch o := a.top().overlay.(type) {
		case *confirm:
			if l.asking == o {
				return
			}
			l.asking = o
			fmt.Fprintf(l.out, "%s\n%s\n", o.Title(), o.q.Body)
			for i, x := range o.answers {
				usual := ""
				if i == o.at {
					usual = " (an empty line too)"
				}
				fmt.Fprintf(l.out, "%s) %s%s\n", x.Key, safe.Line(x.Label, 80), usual)
			}
			return
		case *picker:
			l.help()
		case *chordMenu:
			o.plain(&a.ctx, l.out)
		case *messageLog:
			fmt.Fprintln(l.out, o.text)
		default:
			fmt.Fprintf(l.out, "%s needs a screen: start mcphud on a terminal, not in linear mode\n", o.Title())
		}
		a.drop(a.top().overlay)
	}
}

// screen prints the lines of the visible view that were not there before.
func (l *linear) screen(asked bool) {
	a := l.app
	v := a.current()
	if v.ID != l.view {
		l.view = v.ID
		l.seen = map[string]bool{}
		l.fresh = true
		fmt.Fprintln(l.out, "== "+a.crumbs())
	}
	if l.fresh {
		return
	}
	var b strings.Builder
	v.write(&a.ctx, &b)
	l.choices = v.choose(&a.ctx)
	for i, ch := range l.choices {
		fmt.Fprintf(&b, "%d) %s\n", i+1, safe.Line(ch.Label, 0))
	}
	if v.Page != nil {
		p := v.Page(&a.ctx)
		fmt.Fprintln(&b, page.OneLine(p.Foot))
	}
	limit := maxUnsolicited
	if asked {
		limit = maxAsked
	}
	now := map[string]bool{}
	more := 0
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n ")
		fresh := !l.seen[line] && line != ""
		now[line] = true
		if !fresh {
			continue
		}
		if limit == 0 {
			more++
			continue
		}
		limit--
		fmt.Fprintln(l.out, safe.Line(line, 0))
	}
	if more > 0 {
		fmt.Fprintf(l.out, "and %d more; /text narrows, an empty line shows all\n", more)
	}
	l.seen = now
}

// help lists the commands.
func (l *linear) help() {
	a := l.app
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	for _, x := range append(append([]*Action(nil), local...), unshadowed(local, global)...) {
		if x.Group == "Window" || x.Group == "Move" && strings.HasPrefix(x.ID, "move.") {
			continue // there is nothing to move or resize
		}
		why := ""
		if r := x.reason(&a.ctx); r != "" {
			why = " (" + r + ")"
		}
		fmt.Fprintf(l.out, "%s [%s]: %s%s\n", x.ID, strings.Join(x.Keys, ", "), x.Help, why)
	}
	for i := range a.actions.views {
		fmt.Fprintf(l.out, "%s: goes to %s\n", a.actions.views[i].ID, a.actions.views[i].Title)
	}
}
