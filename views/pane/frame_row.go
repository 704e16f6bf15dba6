package pane

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/journal/filter"
	"github.com/mcphud/mcphud/session/text"
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

// WideRow is the width from which a row has milliseconds and the size.
const WideRow = 70

// NarrowRow is the width from which a row of many servers names its own.
const NarrowRow = 40

// FrameRow draws one entry of the traffic list: time, direction, kind, what it is about, how its payload begins, status,
// latency and size, as far as they fit. With the server, that comes before the time and the latency.
func FrameRow(th *tui.Theme, e journal.Entry, preview string, w int, server bool) string {
	var b strings.Builder
	narrow := server && w < WideRow-10
	switch {
	case narrow:
	case w >= WideRow:
		b.WriteString(th.Muted.S(e.Time.Format("15:04:05.000")) + " ")
	case w >= 50:
		b.WriteString(th.Muted.S(e.Time.Format("15:04:05")) + " ")
	}
	b.WriteString(DirGlyph(e.Dir))
	b.WriteByte(' ')
	b.WriteString(KindStyle(th, e).S(Pad(KindWord(e.Kind), 6)))
	b.WriteByte(' ')
	if server {
		cells := 12
		switch {
		case w < NarrowRow:
			cells = 6
		case narrow:
			cells = 10
		}
		b.WriteString(th.Muted.S(paint.Fit(safe.Line(e.Server, 64), cells)))
		b.WriteByte(' ')
	}
	tail := frameTail(th, e, w, narrow)
	b.WriteString(frameSubject(th, e))
	room := w - paint.Width(tail) - 1
	if tail == "" || room < 19 {
		tail, room = "", w
	}
	left := b.String()
	if free := room - paint.Width(left) - 1; preview != "" && free > 3 {
		left += " " + th.Text.S(safe.Line(preview, free))
	}
	if tail == "" {
		return left
	}
	return paint.Fit(left, room) + " " + tail
}

// frameSubject is the method, what it is about, its id, or the note.
func frameSubject(th *tui.Theme, e journal.Entry) string {
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

// frameTail is the right end of a row.
func frameTail(th *tui.Theme, e journal.Entry, w int, narrow bool) string {
	var parts []string
	switch e.Status {
	case journal.Pending:
		parts = append(parts, th.Warn.S("… pending"))
	case journal.Cancelled:
		parts = append(parts, th.Warn.S("⊘ cancelled"))
	case journal.Failed:
		if e.Kind == journal.Request && e.Peer != 0 {
			break // its answer says so
		}
		word := "✗ error"
		if Probe(&e) {
			parts = append(parts, th.Muted.S("not offered"))
			break
		}
		if e.Note == toolFailed {
			word = "✗ " + toolFailed
		}
		parts = append(parts, th.Error.S(word))
	case journal.OK:
		if e.Kind == journal.Response {
			parts = append(parts, th.OK.S("✓ ok"))
		}
	}
	if !narrow && (e.Kind == journal.Response || e.Kind == journal.ErrorResponse) {
		parts = append(parts, th.Muted.S(fmt.Sprintf("%7s", text.Duration(e.Took))))
	}
	if e.Size > 0 && w >= WideRow {
		parts = append(parts, th.Muted.S(fmt.Sprintf("%8s", text.Bytes(e.Size))))
	}
	return strings.Join(parts, " ")
}

// Pad fills ASCII text up to n cells, or cuts it.
func Pad(s string, n int) string {
	if len(s) > n {
		return paint.Fit(s, n)
	}
	return s + paint.Blanks(n-len(s))
}
