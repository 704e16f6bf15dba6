package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/tui/paint"
)

// edit is a text with a caret between two grapheme clusters, and its history.
// Offsets are bytes. The text may hold anything, invalid UTF-8 included.
type edit struct {
	text  string
	caret int
	undo  []change
	redo  []change
	typed bool // the last change was typing: the next character joins it
}

// change replaced del by ins at an offset.
type change struct {
	at       int
	del, ins string
	caret    int // before
}

const (
	maxUndo      = 1000
	maxUndoBytes = 16 << 20
)

// replace replaces text[from:to] and puts the caret behind what came.
func (e *edit) replace(from, to int, ins string, typing bool) {
	del := e.text[from:to]
	if del == "" && ins == "" {
		return
	}
	last := len(e.undo) - 1
	if typing && e.typed && del == "" && last >= 0 && e.undo[last].at+len(e.undo[last].ins) == from && !strings.HasSuffix(e.undo[last].ins, " ") {
		e.undo[last].ins += ins
	} else {
		e.undo = append(e.undo, change{from, del, ins, e.caret})
		e.trim()
	}
	e.redo, e.typed = nil, typing
	e.text = e.text[:from] + ins + e.text[to:]
	e.caret = from + len(ins)
}

// trim forgets the oldest changes beyond what history may take.
func (e *edit) trim() {
	size, keep := 0, len(e.undo)
	for keep > 0 && len(e.undo)-keep < maxUndo && size < maxUndoBytes {
		keep--
		size += len(e.undo[keep].del) + len(e.undo[keep].ins)
	}
	e.undo = e.undo[keep:]
}

func (e *edit) back() bool {
	if len(e.undo) == 0 {
		return false
	}
	c := e.undo[len(e.undo)-1]
	e.undo = e.undo[:len(e.undo)-1]
	e.redo = append(e.redo, c)
	e.text = e.text[:c.at] + c.del + e.text[c.at+len(c.ins):]
	e.caret, e.typed = c.caret, false
	return true
}

func (e *edit) again() bool {
	if len(e.redo) == 0 {
		return false
	}
	c := e.redo[len(e.redo)-1]
	e.redo = e.redo[:len(e.redo)-1]
	e.undo = append(e.undo, c)
	e.text = e.text[:c.at] + c.ins + e.text[c.at+len(c.del):]
	e.caret, e.typed = c.at+len(c.ins), false
	return true
}

// lineStart and lineEnd bound the line that holds an offset.
func (e *edit) lineStart(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

func (e *edit) lineEnd(at int) int {
	if i := strings.IndexByte(e.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(e.text)
}

// after returns the offset behind the cluster at an offset.
func (e *edit) after(at int) int {
	if at >= len(e.text) {
		return len(e.text)
	}
	if e.text[at] < 0x20 { // controls are clusters of their own here; CRLF is two
		return at + 1
	}
	end := min(at+256, len(e.text))
	for end < len(e.text) && !utf8.RuneStart(e.text[end]) {
		end--
	}
	n, _, _ := paint.Next(e.text[at:max(end, at+1)])
	return at + max(n, 1)
}

// before returns the offset of the cluster that ends at an offset.
func (e *edit) before(at int) int {
	if at <= 0 {
		return 0
	}
	// Clusters cannot be found backwards: start a little earlier, where one surely begins.
	from := max(at-256, 0)
	for i := at - 2; i > from; i-- {
		if e.text[i] < utf8.RuneSelf && e.text[i+1] < utf8.RuneSelf {
			from = i
			break
		}
	}
	for from < at && !utf8.RuneStart(e.text[from]) {
		from++
	}
	last := min(from, at-1)
	for i := from; i < at; i = e.after(i) {
		last = i
	}
	return last
}

// wordBefore and wordAfter are where words begin to the left and end to the right of an offset.
func (e *edit) wordBefore(at int) int {
	for at > 0 && !wordAt(e.text[e.before(at):at]) {
		at = e.before(at)
	}
	for at > 0 && wordAt(e.text[e.before(at):at]) {
		at = e.before(at)
	}
	return at
}

func (e *edit) wordAfter(at int) int {
	for at < len(e.text) && !wordAt(e.text[at:e.after(at)]) {
		at = e.after(at)
	}
	for at < len(e.text) && wordAt(e.text[at:e.after(at)]) {
		at = e.after(at)
	}
	return at
}

func wordAt(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
