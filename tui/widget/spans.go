package widget

import "github.com/mcphud/mcphud/tui/paint"

// Span is a styled range of a line, in bytes.
type Span struct {
	Start, End int
	Style      paint.Style
}

// Painter colours one safe line: it appends the spans of line to dst, in order
// and without overlap. It is asked for visible lines only.
type Painter func(th *paint.Theme, line string, dst []Span) []Span

// appendSpans appends text[from:to] with its spans; over, in order too, wins where both apply.
func appendSpans(dst []byte, text string, from, to int, spans, over []Span) []byte {
	for from < to {
		for len(spans) > 0 && spans[0].End <= from {
			spans = spans[1:]
		}
		for len(over) > 0 && over[0].End <= from {
			over = over[1:]
		}
		end := to
		var st paint.Style
		if len(spans) > 0 {
			if s := spans[0]; s.Start <= from {
				st, end = s.Style, min(end, s.End)
			} else {
				end = min(end, s.Start)
			}
		}
		if len(over) > 0 {
			if s := over[0]; s.Start <= from {
				st, end = s.Style, min(to, s.End)
			} else {
				end = min(end, s.Start)
			}
		}
		dst = st.Append(dst, text[from:end])
		from = end
	}
	return dst
}
