package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// mostLogBytes is how much of a process' log is shown.
const mostLogBytes = 1 << 20

// processLog is the log of one process. It follows its end until somebody scrolls away, and stands still then.
type processLog struct {
	of    Stack
	name  string
	seq   uint64 // newest line taken in
	data  []byte
	away  bool
	fresh int // lines that came while it stood still
	pager widget.Pager
	find  string
	at    int // of the current hit, -1 for none
	wrap  bool
	rev   int
}

func (l *processLog) actions() []tui.Action {
	nothing := func(*tui.Ctx) string {
		if l.name == "" {
			return "no process is selected"
		}
		return ""
	}
	return []tui.Action{
		{
			ID: "stack.follow", Word: "follow", Title: "follow", Group: "Log", Hint: 6, Disabled: nothing,
			Help: "Go to the end of the log and stay there.",
			Run:  func(*tui.Ctx) tea.Cmd { l.follow(); return nil },
		},
		{
			ID: "stack.wrap", Verb: tui.VerbWrap, Title: "wrap", Group: "Log", Pane: "detail", Disabled: nothing,
			Help: "Wrap long lines, or scroll sideways instead.",
			Run: func(*tui.Ctx) tea.Cmd {
				l.wrap = !l.wrap
				l.pager.SetWrap(!l.wrap)
				l.rev++
				return nil
			},
		},
		{
			ID: "stack.save", Verb: tui.VerbSave, Title: "save", Group: "Log", Pane: "detail", Disabled: nothing,
			Help: "Save the log to a file.",
			Run: func(c *tui.Ctx) tea.Cmd {
				return pane.SaveAs(c, "stack", pane.FileName(l.name)+".log", []byte(l.text()))
			},
		},
	}
}

// show takes in what a process wrote meanwhile.
func (l *processLog) show(of Stack, name string) {
	if of == nil {
		*l = processLog{rev: l.rev + 1}
		return
	}
	if l.name != name {
		*l = processLog{of: of, name: name, rev: l.rev + 1, find: l.find, at: -1, wrap: l.wrap}
		l.pager.SetWrap(!l.wrap)
	}
	lines := of.Log(name, l.seq)
	if l.away {
		if len(lines) != l.fresh {
			l.fresh = len(lines)
			l.rev++
		}
		return
	}
	l.take(lines)
}

// take appends lines and goes to the end.
func (l *processLog) take(lines []ProcessLine) {
	if len(lines) == 0 {
		return
	}
	for _, line := range lines {
		l.seq = line.Seq
		l.data = append(l.data, logText(line)...)
		l.data = append(l.data, '\n')
	}
	if over := len(l.data) - mostLogBytes; over > 0 {
		l.data = l.data[over:]
		if i := strings.IndexByte(string(l.data[:min(len(l.data), 64<<10)]), '\n'); i >= 0 {
			l.data = l.data[i+1:]
		}
	}
	l.pager.SetText(l.data[:len(l.data):len(l.data)], paintProcess)
	l.pager.SetQuery(l.find)
	l.at = -1
	l.end()
}

func (l *processLog) end() {
	l.pager.Key("end")
	l.rev++
}

func (l *processLog) follow() {
	l.away, l.fresh = false, 0
	if l.of != nil {
		l.take(l.of.Log(l.name, l.seq))
	}
	l.end()
}

func (l *processLog) text() string { return string(l.data) }

// logText is a line with its time. A line of a structured log in JSON is written out: time, level, message, and what
// belongs to it; of an error in JSON, its message.
func logText(line ProcessLine) string {
	at := line.Time.Format("15:04:05 ")
	if line.Note {
		return at + noteMark + line.Text
	}
	if !strings.HasPrefix(line.Text, "{") {
		return at + line.Text
	}
	level, msg, failed := "", "", ""
	var rest strings.Builder
	err := jsonrpc.Members([]byte(line.Text), func(key string, value []byte) bool {
		switch key {
		case "time":
		case "level":
			level = pane.PlainValue(value)
		case "msg":
			msg = pane.PlainValue(value)
		case "error":
			var said struct{ Message string } // how mcphud ends that fails
			if json.Unmarshal(value, &said) == nil {
				failed = said.Message
			}
			fallthrough
		default:
			rest.WriteString(" " + key + "=" + pane.PlainValue(value))
		}
		return true
	})
	if err != nil || msg == "" {
		if failed != "" {
			return at + "error: " + failed
		}
		return at + line.Text
	}
	return strings.ReplaceAll(at+level+" "+msg+rest.String(), "\n", " ")
}

// noteMark begins what happened to a process.
const noteMark = "── "

// paintProcess colours a log.
func paintProcess(th *paint.Theme, line string, dst []widget.Span) []widget.Span {
	const clock = len("15:04:05 ")
	if len(line) > clock && strings.HasPrefix(line[clock:], noteMark) {
		return append(dst, widget.Span{Start: 0, End: clock, Style: th.Muted}, widget.Span{Start: clock, End: len(line), Style: th.Accent})
	}
	return widget.PaintLog(th, line, dst)
}

// draw is the visible part.
func (l *processLog) draw(th *tui.Theme, w, h int) []string {
	if len(l.data) == 0 {
		return []string{th.Muted.S("No output yet.")}
	}
	l.pager.SetTheme(th)
	l.pager.SetSize(w, h)
	if !l.away {
		l.pager.Key("end") // the size may be another
	}
	return l.pager.Lines()
}

func (l *processLog) badge() string {
	switch {
	case !l.away:
		return ""
	case l.fresh > 0:
		return text.Count(l.fresh, "new line") + ": f follows"
	}
	return "f follows"
}

func (l *processLog) key(k string) bool {
	if l.name == "" || !l.pager.Key(k) {
		return false
	}
	l.scrolled()
	return true
}

// scrolled follows the log where its end is in view, and lets it stand still where it is not.
func (l *processLog) scrolled() {
	if l.away = !l.pager.AtEnd(); !l.away {
		l.follow()
	}
	l.rev++
}

func (l *processLog) mouse(m tui.PaneMouse) bool {
	if l.name == "" {
		return false
	}
	pane.MouseTo(m, l.pager.Mouse)
	l.scrolled()
	return true
}

// search marks what the `/` prompt has.
func (l *processLog) search(text string) {
	l.find, l.at = text, -1
	l.pager.SetQuery(text)
	l.rev++
}

// next goes to another hit; the log stands still from then on.
func (l *processLog) next(c *tui.Ctx, back bool) tea.Cmd {
	if l.find == "" || len(l.data) == 0 {
		return nil
	}
	from := l.at + 1
	switch {
	case l.at < 0:
		from = l.pager.Top()
	case back:
		from = l.at
	}
	start, end, err := widget.Find(context.Background(), l.data, l.find, from, back)
	if err == nil && start < 0 {
		from = 0
		if back {
			from = len(l.data)
		}
		start, end, err = widget.Find(context.Background(), l.data, l.find, from, back)
	}
	if err != nil || start < 0 {
		return c.Toast(tui.Note, fmt.Sprintf("no match for %q in the log", safe.Line(l.find, 60)))
	}
	l.at, l.away = start, true
	l.pager.Show(start, end)
	l.rev++
	return nil
}
