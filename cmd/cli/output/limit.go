package output

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/safe"
)

// Limit is how many bytes a run prints, and what it left out. All printers of a run share one; only one goroutine uses them at a time.
type Limit struct {
	Most flags.Size // 0 for all

	printed, total int   // bytes; total is what was to be printed
	lines, without int   // of JSON or text, and those that were left out as a whole
	cuts           []cut // inside the first value that did not fit
	full, ended    bool  // that nothing more is printed, and that whoever printed stopped for that
}

// line is what of a JSON value may be printed, without its line break: all, a shorter value that says what it lacks, or nil.
func (l *Limit) line(b []byte) []byte {
	size, left := len(b)+1, int(l.Most)-l.printed
	l.lines++
	switch {
	case l.full:
		b = nil
	case size > left:
		b, l.cuts = cutJSON(b, left-1)
		if b != nil && l.cuts == nil {
			size = len(b) + 1 // it had white space
			break
		}
		l.full = true
	}
	l.total += size
	if b == nil {
		l.without++
		return nil
	}
	l.printed += len(b) + 1
	return b
}

// ends reports whether nothing more is printed, to somebody who stops then.
func (l *Limit) ends() bool {
	l.ended = l.full
	return l.full
}

// text is what of a text may be printed: whole lines, or of a first line that is too long its beginning.
func (l *Limit) text(b []byte) []byte {
	const mark = "…\n"
	out, lines, left := b, bytes.Count(b, []byte("\n")), int(l.Most)-l.printed
	switch {
	case l.full:
		out = nil
	case len(b) > left:
		l.full = true
		out = b[:bytes.LastIndexByte(b[:left], '\n')+1]
		if len(out) == 0 && l.printed == 0 && left > len(mark) && !bytes.Contains(b[:left], []byte("\x1b")) {
			out = []byte(text.Cut(string(b[:left]), left-len(mark)) + mark)
		}
	}
	l.total += len(b)
	l.lines += lines
	l.without += lines - bytes.Count(out, []byte("\n"))
	l.printed += len(out)
	return out
}

// maxCuts is how many places the note names.
const maxCuts = 3

// Note says what was left out of what s chose, and how to get it; "" where nothing was. again says how without doing something again, "" where
// the same command does nothing again.
func (l *Limit) Note(s *Selection, again string) string {
	switch {
	case !l.full:
		return ""
	case l.ended:
		return "--max-bytes " + l.Most.String() + " is reached: what came then is not printed"
	}
	var what []string
	for _, c := range l.cuts[:min(len(l.cuts), maxCuts)] {
		what = append(what, c.what+" in "+text.Clip(c.at, 100))
	}
	if more := len(l.cuts) - maxCuts; more > 0 {
		what = append(what, fmt.Sprintf("%d more places", more))
	}
	if l.without > 0 {
		what = append(what, fmt.Sprintf("%d of %s", l.without, text.Count(l.lines, "line")))
	}
	note := fmt.Sprintf("--max-bytes %s left out %s of %s", l.Most.String(), text.Bytes(l.total-l.printed), text.Bytes(l.total))
	if len(what) > 0 {
		note += " (" + strings.Join(what, ", ") + ")"
	}
	if again != "" {
		return note + "; " + again
	}
	enough := flags.Size((l.total + 1<<10 - 1) &^ (1<<10 - 1))
	note += ": --max-bytes " + enough.String() + " prints all, --select "
	rest := ""
	if l.lines == 1 && len(l.cuts) > 0 {
		rest = l.cuts[0].rest
	}
	if s.Query != nil && rest != "" {
		rest = "(" + s.Query.Text + ") | " + rest
	}
	if rest == "" || len(rest) > 300 {
		return note + "JQ what it gives"
	}
	return note + safe.Quote(rest) + " what is left of the first place"
}
