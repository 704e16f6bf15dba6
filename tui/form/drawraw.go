package form

import (
	"strconv"

	"github.com/mcphud/mcphud/session/schema"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// drawRaw draws the raw JSON editor: numbered lines, and below them where
// the text is wrong or what is wrong with the value.
func (f *Form) drawRaw() {
	t, th := f.raw.text, f.theme
	status := f.rawStatus()
	h := max(f.h-len(status), 1)
	if !f.manual || t.row < t.top {
		t.top = min(max(t.top, t.row-h+1), t.row)
	}
	t.top = max(min(t.top, len(t.lines)-h), 0)
	gutter := len(strconv.Itoa(len(t.lines))) + 1
	w := max(f.w-gutter-1, 2)
	for i := t.top; i < len(t.lines) && len(f.lines) < h; i++ {
		num := strconv.Itoa(i + 1)
		num = paint.Blanks(gutter-1-len(num)) + num
		if style := th.Muted; f.raw.err != nil && f.raw.err.Line == i+1 {
			num = th.Error.S(num + "✗")
		} else {
			num = style.S(num) + " "
		}
		var s string
		if i == t.row {
			var cx int
			s, cx = t.window(w)
			f.cx, f.cy, f.cursor = gutter+1+cx, len(f.lines), true
		} else {
			s = clipLine(t.lines[i], w)
		}
		f.lines = append(f.lines, paint.Cut(num+" "+colour(th, s), f.w))
	}
	for len(f.lines) < f.h-len(status) {
		f.lines = append(f.lines, "")
	}
	f.lines = append(f.lines, status...)
	f.lines = f.lines[:min(len(f.lines), f.h)]
}

func (f *Form) rawStatus() []string {
	th := f.theme
	if f.h < 3 {
		return nil
	}
	switch {
	case f.raw.late:
		return []string{paint.Cut(th.Muted.S("· long text: it is read when you leave it (ctrl+r) or send"), f.w)}
	case f.raw.err != nil:
		return []string{paint.Cut(th.Error.S("✗ "+safe.Line(f.raw.err.Error(), 4*f.w)), f.w)}
	case f.sch.Err() != nil:
		return []string{paint.Cut(th.Warn.S("! "+safe.Line(f.sch.Err().Error(), 4*f.w)), f.w)}
	case len(f.problems) == 0:
		return []string{paint.Cut(th.OK.S("✓ valid JSON")+th.Muted.S("  ctrl+r goes back to the form"), f.w)}
	}
	var out []string
	for i, p := range f.problems {
		if i == 3 || len(out) >= f.h/3 {
			break
		}
		out = append(out, paint.Cut(th.Error.S("✗ "+safe.Line(schema.Problem.String(p), 4*f.w)), f.w))
	}
	return out
}

// colour paints a line of JSON. It knows no more than one line, which is
// enough since JSON strings do not span lines.
func colour(th *paint.Theme, s string) string {
	b := make([]byte, 0, len(s)+64)
	for i := 0; i < len(s); {
		j := i + 1
		switch c := s[i]; {
		case c == '"':
			for j < len(s) && s[j] != '"' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(s))
			st := th.String
			for k := j; k < len(s) && (s[k] == ' ' || s[k] == ':'); k++ {
				if s[k] == ':' {
					st = th.Key
					break
				}
			}
			b = st.Append(b, s[i:j])
		case c == '-' || c >= '0' && c <= '9':
			for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == '.' || s[j] == 'e' || s[j] == 'E' || s[j] == '+' || s[j] == '-') {
				j++
			}
			b = th.Number.Append(b, s[i:j])
		case c >= 'a' && c <= 'z':
			for j < len(s) && s[j] >= 'a' && s[j] <= 'z' {
				j++
			}
			st := th.Bool
			if s[i:j] == "null" {
				st = th.Null
			}
			b = st.Append(b, s[i:j])
		case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
			b = th.Punct.Append(b, s[i:j])
		default:
			b = append(b, c)
		}
		i = j
	}
	return string(b)
}
