package rewrite

import (
	"bytes"
	"strings"
)

// What stands in brackets is written the same way in every format: items between commas, on lines of their own or not.
// Offsets here are in Doc.b. at.to is behind the closing bracket, so that at.to-1 is where the bracket is.

// skip is where white space and comments that begin at i end; lines says whether those of further lines are passed over too.
func (d *Doc) skip(i, end int, lines bool) int {
	for i < end {
		switch n := d.syntax.comment(d.b[i:end]); {
		case n > 0:
			i += n
		case d.b[i] == ' ', d.b[i] == '\t', d.b[i] == '\r' && lines, d.b[i] == '\n' && lines:
			i++
		default:
			return i
		}
	}
	return i
}

// comma is where the comma after an item is that ends at i; -1 if there is none before the closing bracket.
func (d *Doc) comma(at *Value, i int) int {
	if i = d.skip(i, at.to-1, true); i < at.to-1 && d.b[i] == ',' {
		return i
	}
	return -1
}

// rest is where the line of an item ends, with its comment; ok says that nothing else follows on it.
func (d *Doc) rest(at *Value, i int) (end int, ok bool) {
	end = d.skip(i, at.to-1, false)
	return end, end == at.to-1 || d.b[end] == '\n'
}

// lineStart is where the line of i begins; blank says that only white space is before i.
func (d *Doc) lineStart(i int) (start int, blank bool) {
	start = bytes.LastIndexByte(d.b[:i], '\n') + 1
	return start, len(bytes.TrimLeft(d.b[start:i], " \t")) == 0
}

// indent is the white space that the line of i begins with.
func (d *Doc) indent(i int) string {
	start, _ := d.lineStart(i)
	line := d.b[start:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lines reports whether the items of at stand on lines of their own: the last one decides, beside which the next one comes. Of empty brackets the
// whole file does.
func (d *Doc) lines(at *Value) bool {
	n := len(at.items)
	if n == 0 {
		return bytes.IndexByte(bytes.TrimRight(d.b, "\n"), '\n') >= 0 || len(bytes.TrimSpace(d.b)) == at.to-at.from
	}
	from := at.from + 1
	if n > 1 {
		from = at.items[n-2].value.to
	}
	return bytes.IndexByte(d.b[from:at.items[n-1].from], '\n') >= 0
}

// unit is one level of indentation: that of the first line that has any, if that is plausible, else two blanks.
func (d *Doc) unit() string {
	for line := range bytes.Lines(d.b) {
		if n := len(line) - len(bytes.TrimLeft(line, " \t")); n > 0 && n <= 8 && len(bytes.TrimSpace(line)) > 0 {
			if line[0] == '\t' {
				return "\t"
			}
			return string(line[:n])
		}
	}
	return "  "
}

// isSpaced reports whether commas and colons have a blank behind them: not in a file that a program wrote without a single one.
func (d *Doc) isSpaced() bool {
	// "{}" shows nothing of how its author writes: people's way then.
	return len(bytes.TrimSpace(d.b)) <= 2 || bytes.ContainsAny(d.b, " \n\t")
}

// separator is what stands between two items of a line.
func (d *Doc) separator() string {
	if d.isSpaced() {
		return ", "
	}
	return ","
}

// flowText is v in brackets. indent is that of the line it begins on; lines puts the members of objects on lines of their own.
func (d *Doc) flowText(v any, indent string, lines bool) string {
	colon, unit := d.syntax.colon(), d.unit()
	if !d.isSpaced() {
		colon = strings.TrimSpace(colon)
	}
	switch v := v.(type) {
	case spelled:
		return v.as
	case Object:
		var parts []string
		for _, m := range v {
			parts = append(parts, d.syntax.key(m.Key)+colon+d.flowText(m.Value, indent+unit, lines))
		}
		if len(parts) > 0 && lines {
			return "{\n" + indent + unit + strings.Join(parts, ",\n"+indent+unit) + "\n" + indent + "}"
		}
		return "{" + strings.Join(parts, d.separator()) + "}"
	case []any:
		var parts []string
		nested := false
		for _, one := range v {
			o, ok := one.(Object)
			nested = nested || ok && len(o) > 0
		}
		if nested && lines {
			for _, one := range v {
				parts = append(parts, d.flowText(one, indent+unit, true))
			}
			return "[\n" + indent + unit + strings.Join(parts, ",\n"+indent+unit) + "\n" + indent + "]"
		}
		for _, one := range v {
			parts = append(parts, d.flowText(one, indent, false))
		}
		return "[" + strings.Join(parts, d.separator()) + "]"
	}
	return d.syntax.scalar(v)
}

// item is the text of a new item of at, indented for the line that it will stand on. TOML has no objects over several lines (its colon is another one).
func (d *Doc) item(at *Value, key string, v any) string {
	lines := d.lines(at)
	indent := d.indent(at.from) + d.unit()
	if n := len(at.items); n > 0 && lines {
		indent = d.indent(at.items[n-1].from)
	}
	text := d.flowText(v, indent, lines && d.syntax.colon() == ": ")
	if at.kind == array {
		return text
	}
	colon := d.syntax.colon()
	if !d.isSpaced() {
		colon = strings.TrimSpace(colon)
	}
	return d.syntax.key(key) + colon + text
}

// texts are the texts of new elements of a list.
func (d *Doc) texts(at *Value, values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = d.item(at, "", v)
	}
	return out
}

// append puts items behind those that are there. A comma behind the last one stays behind the last one, and comments behind it where they are.
func (d *Doc) append(at *Value, texts []string) ([]edit, error) {
	n := len(at.items)
	if n == 0 {
		return d.first(at, texts)
	}
	end := at.items[n-1].value.to
	comma := d.comma(at, end)
	var edits []edit
	tail := "" // the comma that the list's author likes to have behind the last one
	if comma < 0 {
		edits = append(edits, edit{end, end, ","})
	} else {
		end, tail = comma+1, ","
	}
	if !d.lines(at) {
		gap := strings.TrimPrefix(d.separator(), ",")
		return append(edits, edit{end, end, gap + strings.Join(texts, d.separator()) + tail}), nil
	}
	indent := "\n" + d.indent(at.items[n-1].from)
	if line, ok := d.rest(at, end); ok {
		end = line
		if end == at.to-1 { // the bracket is on the line of the last item
			end -= len(d.b[:end]) - len(bytes.TrimRight(d.b[:end], " \t"))
		}
	}
	return append(edits, edit{end, end, indent + strings.Join(texts, ","+indent) + tail}), nil
}

// first puts items into empty brackets. A comment that is in them stays above; one behind which nothing can stand on its line has the items below it.
func (d *Doc) first(at *Value, texts []string) ([]edit, error) {
	from, to := at.from+1, at.to-1
	inner := d.b[from:to]
	indent := d.indent(at.from)
	lines := at.kind == object && d.lines(at) && d.syntax.colon() == ": "
	if len(bytes.TrimSpace(inner)) > 0 { // comments
		if i := bytes.LastIndexByte(inner, '\n'); i >= 0 {
			return []edit{{from + i, from + i, "\n" + indent + d.unit() + strings.Join(texts, ",\n"+indent+d.unit())}}, nil
		}
		return []edit{{to, to, strings.Join(texts, d.separator())}}, nil
	}
	if lines {
		return []edit{{from, to, "\n" + indent + d.unit() + strings.Join(texts, ",\n"+indent+d.unit()) + "\n" + indent}}, nil
	}
	return []edit{{from, to, strings.Join(texts, d.separator())}}, nil
}

// insertBefore puts elements in front of item i, on its line.
func (d *Doc) insertBefore(at *Value, i int, values []any) ([]edit, error) {
	from := at.items[i].from
	return []edit{{from, from, strings.Join(d.texts(at, values), d.separator()) + d.separator()}}, nil
}

// cut takes item i out of its brackets, with its comma and the comment behind it, where that is on its line and nothing else is. The first edit that
// fits is made: the only item, one on lines of its own, one among others on a line, and the last one, whose comma is the one before it.
func (d *Doc) cut(at *Value, i int) ([]edit, error) {
	it, n := at.items[i], len(at.items)
	comma := d.comma(at, it.value.to)
	end := it.value.to
	if comma >= 0 {
		end = comma + 1
	}
	line, ends := d.rest(at, end)
	start, blank := d.lineStart(it.from)
	own := blank && ends && start > at.from // the item has its lines for itself
	if own {
		end = line
	}
	switch {
	case n == 1:
		from := it.from
		if own {
			from = start
		}
		if len(bytes.TrimSpace(d.b[at.from+1:from])) == 0 && len(bytes.TrimSpace(d.b[end:at.to-1])) == 0 {
			return []edit{{at.from + 1, at.to - 1, ""}}, nil
		}
		if own {
			return []edit{{start - 1, line, ""}}, nil
		}
		return []edit{{it.from, end, ""}}, nil
	case own && i < n-1:
		return []edit{{start - 1, end, ""}}, nil
	case i < n-1:
		next := d.skip(end, at.to-1, false)
		if d.b[next] == '\n' {
			next = end
		}
		if c := bytes.TrimSpace(d.b[end:next]); len(c) > 0 { // a comment that may be about the next one
			next = end
		}
		return []edit{{it.from, next, ""}}, nil
	}
	var edits []edit
	last := d.comma(at, at.items[i-1].value.to)
	if last < 0 { // no format leaves it out: the parser and comma do not agree on where the item before ends
		return nil, ErrLossy
	}
	if comma < 0 { // as it had none behind it the one before has to go: JSON takes no comma at the end, nor does TOML in braces
		edits = append(edits, edit{last, last + 1, ""})
	}
	if own {
		if end == at.to-1 { // the bracket is on the line of the item
			end -= len(d.b[:end]) - len(bytes.TrimRight(d.b[:end], " \t"))
		}
		return append(edits, edit{start - 1, end, ""}), nil
	}
	from := it.from
	if len(bytes.TrimSpace(d.b[last+1:from])) == 0 {
		from = last + 1
	}
	return append(edits, edit{from, end, ""}), nil
}
