package widget

import (
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
)

// PaintLog colours a line of a log: what begins it up to its level is muted,
// the level has its verdict's colour, a line of JSON is coloured as such.
func PaintLog(th *paint.Theme, line string, dst []Span) []Span {
	if t := strings.TrimLeft(line, " "); strings.HasPrefix(t, "{") {
		return PaintJSON(th, line, dst)
	}
	// Before a level come times, brackets and at most a month or a logger's
	// name; later in the line the same word is part of the message.
	words := 0
	for i := 0; i < len(line) && words < 2; {
		if !isLetter(line[i]) {
			i++
			continue
		}
		start := i
		for i < len(line) && isLetter(line[i]) {
			i++
		}
		if st, ok := levelStyle(th, line[start:i]); ok {
			if start > 0 {
				dst = append(dst, Span{0, start, th.Muted})
			}
			return append(dst, Span{start, i, st})
		}
		if i > start+1 {
			words++
		}
	}
	return dst
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// levelStyle returns the style of a log level: syslog's names as MCP uses them and those that loggers write. Lower case
// counts only in full, so that "info" is a level and "I" in a sentence is none.
func levelStyle(th *paint.Theme, w string) (paint.Style, bool) {
	if len(w) < 3 {
		return paint.Style{}, false
	}
	switch strings.ToLower(w) {
	case "error", "err", "fatal", "critical", "crit", "alert", "emergency", "emerg", "panic", "eror":
		return th.Error, true
	case "warn", "warning":
		return th.Warn, true
	case "info", "notice":
		return th.Info, true
	case "debug", "trace", "verbose", "dbg":
		return th.Muted, true
	}
	return paint.Style{}, false
}
