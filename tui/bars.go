package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// The actions whose hints are always at the right end.
const (
	helpID    = "app.help"
	paletteID = "app.palette"
)

// lateHint is the [Action.Hint] from which on an action stands behind what the view itself hints at.
const lateHint = 50

// hintLine shows what can be done now, in the order of the hints.
func (a *App) hintLine(w int) string {
	t := a.ctx.Theme
	if l := a.top(); l != nil && !l.hidden {
		return l.hintLine(&a.ctx, w)
	}
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	if a.place.focus == RailFocus {
		local = nil
	}
	var list []*Action
	for _, x := range slices.Concat(local, unshadowed(local, global)) {
		if x.Hint > 0 && len(x.Keys) > 0 && (x.Hinted == nil || x.Hinted(&a.ctx)) && x.reason(&a.ctx) == "" {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b *Action) int { return cmp.Compare(a.Hint, b.Hint) })
	late, _ := slices.BinarySearchFunc(list, lateHint, func(x *Action, h int) int { return cmp.Compare(x.Hint, h) })
	typing := a.typing()
	var bar []key.Binding
	put := func(k, title string) { // what stands first is what the key does, and of two keys for the same the first is enough
		if k != "" && !slices.ContainsFunc(bar, func(b key.Binding) bool { return b.Keys()[0] == k || b.Help().Desc == title }) {
			bar = append(bar, binding(k, title))
		}
	}
	if a.place.focus == RailFocus {
		put("enter", "open server")
	}
	for _, x := range list[:late] {
		k, title := hintKey(x, typing), x.title(&a.ctx)
		if first, _, chord := strings.Cut(k, " "); chord { // what follows is listed once it is pressed
			word, _, _ := strings.Cut(title, " ")
			k, title = first, word
		}
		put(k, title)
	}
	if s := a.current(); s.Hints != nil && a.place.focus != RailFocus {
		for _, h := range s.Hints(&a.ctx) {
			put(h.Key, h.Title)
		}
	}
	var tail []key.Binding // who knows no other key needs these
	for _, x := range list[late:] {
		switch x.ID {
		case paletteID:
			tail = append(tail, binding(hintKey(x, typing), "all"))
		case helpID:
			tail = append(tail, binding(hintKey(x, typing), x.Title))
		default:
			put(hintKey(x, typing), x.title(&a.ctx))
		}
	}
	end := keyBar(t, w, tail)
	return paint.Fit(keyBar(t, w-paint.Width(end), bar), w-paint.Width(end)) + end
}

// hintKey is the key to show for an action, "" if it has none that works now:
// while text is typed, a letter is a letter.
func hintKey(x *Action, typing bool) string {
	for _, k := range x.Keys {
		if first, _, _ := strings.Cut(k, " "); !typing || !printable(pressOf(first)) {
			return k
		}
	}
	return ""
}

// statusLine always shows server, transport, protocol version, state, calls in
// flight with their time, unread inbox items and the last error.
func (a *App) statusLine(w int) string {
	t := a.ctx.Theme
	var left []string
	if cur := a.servers.row(a.servers.current); cur != nil {
		left = append(left, t.Server(cur.name).And(t.Bold).S(safe.Line(cur.title, 24)))
		if cur.transport != "" {
			left = append(left, t.Text.S(safe.Line(cur.transport, 12)))
		}
		if cur.version != "" {
			left = append(left, t.Text.S(safe.Line(cur.version, 12)))
		}
		left = append(left, cur.mark(t))
		if cur.insecure {
			left = append(left, t.Badge.S(" insecure "))
		}
		if cur.client != "" {
			left = append(left, t.Badge.S(" "+safe.Line(cur.client, 30)+" "))
		}
		if cur.meta != "" {
			left = append(left, t.Badge.S(" "+safe.Line(cur.meta, 40)+" "))
		}
	} else {
		idle := ""
		if a.cfg.Idle != nil {
			idle = safe.Line(a.cfg.Idle(), w-2)
		}
		left = append(left, t.Muted.S(cmp.Or(idle, "no server")))
	}
	if n := a.inbox(); n != "" {
		left = append(left, t.Warn.S("✉ inbox "+n))
	}
	for _, b := range a.banners() {
		left = append(left, t.Warn.S("! "+b))
	}
	if s := a.callsInFlight(w - 4 - paint.Width(strings.Join(left, " · "))); s != "" {
		left = append(left, s)
	}
	if a.ctx.ReadOnly {
		left = append(left, t.Badge.S(" read-only "))
	}
	if !a.mouse.on {
		left = append(left, t.Badge.S(" mouse off "))
	}
	if a.arrange.Zoom {
		left = append(left, t.Badge.S(" zoom (esc) "))
	}
	s := " " + strings.Join(left, t.Muted.S(" · "))
	if e := a.servers.lastError(); e != "" {
		if room := w - paint.Width(s) - 5; room > 12 {
			s += t.Muted.S(" · ") + t.Error.S(safe.Line("✗ "+reason(e, room-2), room))
		}
	}
	return paint.Fit(s, w)
}

// reason is an error as it fits into w cells: where all of it does not, what led to it rather than what it led to.
func reason(e string, w int) string {
	for paint.Width(e) > w {
		_, why, ok := strings.Cut(e, ": ")
		if !ok || why == "" {
			break
		}
		e = why
	}
	return e
}

// callsInFlight shows the newest call with spinner, time and progress, and how many others there are. Where room (in
// cells) is short the name gives way, not the time.
func (a *App) callsInFlight(room int) string {
	t := a.ctx.Theme
	ops := a.ops.list()
	n := len(ops)
	if n == 0 {
		return ""
	}
	op := ops[n-1]
	for i := n - 1; i >= 0; i-- {
		if !ops[i].Quiet {
			op = ops[i]
			break
		}
	}
	d := time.Since(op.Started)
	s := ""
	if op.Cancelling {
		s += t.Warn.S(" cancelling")
	}
	if e := Elapsed(d); e != "" {
		s += " " + t.Muted.S(e)
	}
	if f, ok := Fraction(op.Progress); ok {
		s += " " + widget.Bar(t, 15, f, 1)
	} else if op.Progress.Count > 0 {
		s += " " + t.Muted.S(fmt.Sprintf("#%d", op.Progress.Count))
	}
	if n > 1 {
		s += t.Muted.S(fmt.Sprintf(" +%d", n-1))
	}
	label := safe.Line(op.Label, min(max(room-2-paint.Width(s), 6), 30))
	return t.Accent.S(Spinner(d)) + " " + t.Text.S(label) + s
}

// inbox is the badge of the inbox screen, where there is one.
func (a *App) inbox() string {
	if v := a.actions.find("inbox"); v != nil && v.Badge != nil {
		return safe.Line(v.Badge(&a.ctx), 8)
	}
	return ""
}

// banners are what views have to say on all screens.
func (a *App) banners() (out []string) {
	for _, v := range a.actions.views {
		if v.Banner != nil {
			if text := v.Banner(&a.ctx); text != "" {
				out = append(out, safe.Line(text, 40))
			}
		}
	}
	return out
}

// asked is the question that the focused screen would have answered next, 0 if it knows of none.
func (a *App) asked() uint64 {
	if v := a.current(); v.Question != nil {
		return v.Question(&a.ctx)
	}
	return 0
}

// tickerLine is the last entry of the traffic.
func (a *App) tickerLine(w int) string {
	return paint.Fit(a.servers.ticker(a.ctx.Theme, w), w)
}
