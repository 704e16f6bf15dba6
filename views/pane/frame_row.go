package pane

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// KindWord is what a journal entry is called on the screen.
func KindWord(k journal.Kind) string { return filter.KindWord(k) }

// DirGlyph points from the client to the server or back.
func DirGlyph(d journal.Dir) string {
	switch d {
	case journal.Out:
		return "→"
	case journal.In:
		return "←"
	}
	return "·"
}

// KindStyle is the colour of an entry's kind; the word says the same.
func KindStyle(th *tui.Theme, e journal.Entry) paint.Style {
	if Probe(&e) {
		return th.Muted
	}
	switch e.Kind {
	case journal.ErrorResponse, journal.Bad:
		return th.Error
	case journal.Response:
		return th.OK
	case journal.Request:
		return th.Accent
	case journal.Notification:
		return th.Info
	case journal.Stderr:
		return th.Warn
	}
	return th.Muted
}

// toolFailed is the journal's note on a result that is a tool's own failure.
const toolFailed = "isError"

// TrafficRow is a row of traffic: an entry, or the exchange of a request.
type TrafficRow struct {
	Entry    journal.Entry
	Answer   journal.Entry // to the request of an exchange
	Exchange bool          // the rows are exchanges
	Over     bool          // nothing comes any more: what waits for its answer never gets one
	Odd      journal.Mark  // what is odd about the entries of an exchange
	Preview  string        // how the payload begins: not safe yet
	Note     journal.Note
	Badge    string    // stands before what it is about, styled; "" for none
	Server   int       // cells for the name of the server; 0 leaves it out
	Since    time.Time // what the time is relative to; zero for the time of day
}

// Widths of a row from which it has more columns.
const (
	bytesRow   = 66 // bytes
	millisRow  = 76 // milliseconds, and the bytes of both ways apart
	timeRow    = 50 // the time of day, and that taken
	besideName = 70 // milliseconds, without the server's name
)

// How many columns the bytes of a row get.
const (
	noBytes   = iota
	sumBytes  // one, of both ways
	bothBytes // one for each way
)

// Draw draws the row in w cells: time, direction, server, what it is about, how its payload begins, outcome, time taken and
// bytes, as far as they fit. What it is about comes before milliseconds and bytes.
func (r *TrafficRow) Draw(th *tui.Theme, w int) string {
	var b strings.Builder
	wide := w // what there is beside the server
	if r.Server > 0 {
		wide -= min(r.Server, serverCells(w)) + 1
	}
	if w >= timeRow {
		b.WriteString(th.Muted.S(r.clock(w >= millisRow && wide >= besideName)) + " ")
	}
	b.WriteString(DirGlyph(r.Entry.Dir))
	if r.Note.Marked {
		b.WriteString(th.Warn.S("◆"))
	} else {
		b.WriteByte(' ')
	}
	if r.Server > 0 {
		b.WriteString(th.Server(r.Entry.Server).S(paint.Fit(safe.Line(r.Entry.Server, 64), min(r.Server, serverCells(w)))) + " ")
	}
	if !r.Exchange {
		b.WriteString(KindStyle(th, r.Entry).S(Pad(KindWord(r.Entry.Kind), 6)) + " ")
	} else if r.Entry.Kind != journal.Request {
		b.WriteString(KindStyle(th, r.Entry).S(KindWord(r.Entry.Kind)) + " ")
	}
	if r.Badge != "" {
		b.WriteString(r.Badge + " ")
	}
	target := frameTarget(th, r.Entry)
	need := paint.Width(b.String()) + paint.Width(target) + 2 // an ellipsis for the rest
	b.WriteString(frameSubject(th, r.Entry, target))
	if r.Note.Text != "" { // somebody wrote it here
		b.WriteString(" " + th.Info.S("✎ "+safe.Line(r.Note.Text, 200)))
		need = paint.Width(b.String())
	}
	bytes := noBytes
	switch {
	case w >= millisRow:
		bytes = bothBytes
	case w >= bytesRow:
		bytes = sumBytes
	}
	tail := r.tail(th, w, bytes)
	for ; bytes > noBytes && need+1+paint.Width(tail) > w; tail = r.tail(th, w, bytes) {
		bytes--
	}
	room := w - paint.Width(tail) - 1
	if tail == "" || room < 19 {
		tail, room = "", w
	}
	left := b.String()
	if free := room - paint.Width(left) - 1; r.Preview != "" && free > 3 {
		left += " " + th.Text.S(safe.Line(r.Preview, free))
	}
	if tail == "" {
		return left
	}
	return paint.Fit(left, room) + " " + tail
}

// serverCells is how many cells of a server's name there is room for in a row.
func serverCells(w int) int {
	switch {
	case w < 40:
		return 6
	case w < timeRow+10:
		return 10
	}
	return 14
}

// clock is the time of the row: of the day, or relative to another row.
func (r *TrafficRow) clock(millis bool) string {
	layout, cells := "15:04:05", 8
	if millis {
		layout, cells = "15:04:05.000", 12
	}
	if r.Since.IsZero() {
		return r.Entry.Time.Format(layout)
	}
	d, sign := r.Entry.Time.Sub(r.Since), "+"
	if d < 0 {
		d, sign = -d, "-"
	}
	s := sign + text.Duration(d)
	if d == 0 {
		s = "*REF*"
	}
	return fmt.Sprintf("%*s", cells, s)
}

// frameTarget is the method, and what it is about.
func frameTarget(th *tui.Theme, e journal.Entry) string {
	var parts []string
	if e.Method != "" {
		method := e.Method
		if e.Kind == journal.Notification {
			method = strings.TrimPrefix(method, "notifications/") // the kind says so
		}
		parts = append(parts, safe.Line(method, 80))
	}
	if e.Tool != "" {
		parts = append(parts, th.Accent2.S(safe.Line(e.Tool, 120)))
	}
	return strings.Join(parts, " ")
}

// frameSubject is the target, its id, or the note.
func frameSubject(th *tui.Theme, e journal.Entry, target string) string {
	var parts []string
	if target != "" {
		parts = append(parts, target)
	}
	if e.ID != "" {
		parts = append(parts, th.Muted.S("#"+safe.Line(e.ID, 40)))
	}
	if e.Note != "" && e.Note != toolFailed && e.Note != e.Status {
		parts = append(parts, th.Muted.S(safe.Line(e.Note, 200)))
	}
	return strings.Join(parts, " ")
}

// Probe is whether an entry belongs to a question that only found out what the server speaks, and was refused: nothing is
// wrong with either side.
func Probe(e *journal.Entry) bool {
	return e.Method == "server/discover" && (e.Status != journal.OK || e.ID != firstID)
}

// firstID is the id of the first request on a connection.
const firstID = "1"

// tail is the right end of a row.
func (r *TrafficRow) tail(th *tui.Theme, w, bytes int) string {
	parts := r.outcome(th)
	e := &r.Entry
	if took := e.Took; w >= timeRow && (r.Exchange && e.Kind == journal.Request || e.Kind == journal.Response || e.Kind == journal.ErrorResponse) {
		if e.Status == journal.Pending && !r.Over {
			took = max(time.Since(e.Time), 0).Truncate(100 * time.Millisecond)
		}
		parts = append(parts, th.Muted.S(fmt.Sprintf("%7s", text.Duration(took))))
	}
	switch {
	case bytes == noBytes:
	case r.Exchange && e.Kind == journal.Request:
		up, down := e.Size, r.Answer.Size
		if bytes == sumBytes {
			parts = append(parts, th.Muted.S(fmt.Sprintf("%8s", text.Bytes(up+down))))
			break
		}
		if e.Dir == journal.In {
			up, down = down, up
		}
		parts = append(parts, th.Muted.S(fmt.Sprintf("%8s %8s", "↑"+text.Bytes(up), "↓"+text.Bytes(down))))
	case e.Size > 0:
		parts = append(parts, th.Muted.S(fmt.Sprintf("%8s", text.Bytes(e.Size))))
	}
	return strings.Join(parts, " ")
}

// outcome is what became of the entry: glyphs, and words that say the same.
func (r *TrafficRow) outcome(th *tui.Theme) (parts []string) {
	e, marks := &r.Entry, r.Entry.Mark|r.Odd
	switch {
	case e.Status == journal.Pending && r.Over, e.Status == journal.Failed && e.Kind == journal.Request && e.Peer == 0 && !Probe(e):
		parts = append(parts, th.Error.S("✗ unanswered"))
	case e.Status == journal.Pending:
		parts = append(parts, th.Warn.S("… pending"))
	case e.Status == journal.Cancelled:
		parts = append(parts, th.Warn.S("⊘ cancelled"))
	case e.Status == journal.Failed && e.Kind == journal.Request && !r.Exchange: // its answer says so
	case e.Status == journal.Failed && Probe(e):
		parts = append(parts, th.Muted.S("not offered"))
	case e.Status == journal.Failed && (e.Note == toolFailed || r.Answer.Note == toolFailed):
		parts = append(parts, th.Error.S("✗ "+toolFailed))
	case e.Status == journal.Failed:
		parts = append(parts, th.Error.S("✗ error"))
	case e.Status == journal.OK && (e.Kind == journal.Response || r.Exchange):
		parts = append(parts, th.OK.S("✓ ok"))
	}
	for _, m := range []struct {
		mark  journal.Mark
		glyph string
	}{{journal.Late, "◷ late"}, {journal.Duplicate, "≡ duplicate"}, {journal.Unasked, "? unasked"}} {
		if marks&m.mark != 0 {
			parts = append(parts, th.Warn.S(m.glyph))
		}
	}
	return parts
}

// Pad fills ASCII text up to n cells, or cuts it.
func Pad(s string, n int) string {
	if len(s) > n {
		return paint.Fit(s, n)
	}
	return s + paint.Blanks(n-len(s))
}
