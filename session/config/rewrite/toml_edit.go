package rewrite

import (
	"bytes"
	"fmt"
	"slices"
)

// isBelow reports whether an expression writes something at a path, or in it.
func (e expression) isBelow(path []string) bool {
	return e.what.depth >= len(path) && slices.Equal(e.what.path()[:len(path)], path)
}

// section is where the pairs of a header begin and end, as indices of expressions; the document's have no header.
func (f *tomlFile) section(path []string) (from, to int, ok bool) {
	if len(path) > 0 {
		from = slices.IndexFunc(f.all, func(e expression) bool { return e.header && e.what.depth == len(path) && e.isBelow(path) })
		if from < 0 {
			return 0, 0, false
		}
		from++
	}
	for to = from; to < len(f.all) && !f.all[to].header; to++ {
	}
	return from, to, true
}

// insert adds a pair behind the last one of its table, or, for an object, a table of its own behind all that is below the one that it is in: a pair
// behind a header belongs to that header, so that it cannot come later.
func (s tomlSyntax) insert(d *Doc, at *Value, key string, v any) ([]edit, error) {
	t, ok := at.in.(*table)
	if !ok || at.kind != object {
		return nil, ErrLossy
	}
	if v == nil {
		return nil, fmt.Errorf("%w: TOML has no null", ErrLossy)
	}
	from, to, has := t.file.section(t.path())
	last := -1 // the last expression of the table and what is below it
	dotted := false
	for i, e := range t.file.all {
		if e.isBelow(t.path()) {
			last = i
			dotted = dotted || !has && !e.header && e.what.depth-len(e.parts) < t.depth
		}
	}
	o, nested := v.(Object)
	switch {
	case dotted: // a header for it would define the table once more, which TOML forbids
		return nil, fmt.Errorf("%w: its members are written with dots", ErrLossy)
	case nested && len(o) > 0:
		end := len(bytes.TrimRight(d.b, "\n \t"))
		if t.depth > 0 && last >= 0 {
			end = t.file.all[last].to
		}
		text := s.tables(d, append(t.path(), key), o)
		if end == 0 { // no empty line at the top of a file
			text = text[2:] + "\n"
		}
		return []edit{{end, end, text}}, nil
	case !has:
		return nil, fmt.Errorf("%w: [%s] is not there", ErrLossy, s.keys(t.path()))
	}
	line := s.key(key) + " = " + d.flowText(v, "", false)
	switch {
	case to > from:
		end := t.file.all[to-1].to
		return []edit{{end, end, "\n" + d.indent(t.file.all[to-1].from) + line}}, nil
	case t.depth > 0:
		end := t.file.all[from-1].to
		return []edit{{end, end, "\n" + line}}, nil
	case len(t.file.all) > 0:
		start := t.file.all[0].from
		return []edit{{start, start, line + "\n"}}, nil
	}
	end := len(bytes.TrimRight(d.b, "\n \t"))
	if end > 0 {
		line = "\n" + line
	} else {
		line += "\n"
	}
	return []edit{{end, end, line}}, nil
}

// tables is an object as tables, each after an empty line, without a newline at the end.
func (s tomlSyntax) tables(d *Doc, path []string, o Object) string {
	text := ""
	for _, m := range o {
		if in, ok := m.Value.(Object); !ok || len(in) == 0 {
			text += "\n" + s.key(m.Key) + " = " + d.flowText(m.Value, "", false)
		}
	}
	if text != "" {
		text = "\n\n[" + s.keys(path) + "]" + text
	}
	for _, m := range o {
		if in, ok := m.Value.(Object); ok && len(in) > 0 {
			text += s.tables(d, append(slices.Clone(path), m.Key), in)
		}
	}
	return text
}

// replace writes another value behind the equals sign. A table cannot become one, nor can null be written.
func (s tomlSyntax) replace(d *Doc, at *Value, v any) ([]edit, error) {
	if _, ok := at.in.(*table); ok || v == nil {
		return nil, ErrLossy
	}
	return []edit{{at.from, at.to, d.flowText(v, "", false)}}, nil
}

// remove takes away each expression at a path and below it: a table may be written in several places of a file.
func (s tomlSyntax) remove(d *Doc, parent *Value, i int) ([]edit, error) {
	t, ok := parent.in.(*table)
	if !ok {
		return nil, ErrLossy
	}
	key := parent.items[i].key
	if parent.kind == array {
		key = fmt.Sprint(i)
	}
	path := append(t.path(), key)
	all := t.file.all
	var edits []edit
	for i := 0; i < len(all); i++ {
		e := all[i]
		if !e.isBelow(path) {
			continue
		}
		from, to := e.from, e.to
		if e.header {
			for i+1 < len(all) && !all[i+1].header {
				i++
				to = all[i].to
			}
		}
		switch {
		case from > 1 && e.header && d.b[from-2] == '\n': // with the empty line before it
			from -= 2
		case from > 0:
			from--
		default: // at the top of the file, where no line end is before it, the one behind goes
			to = min(to+1, len(d.b))
			if e.header && to < len(d.b) && d.b[to] == '\n' {
				to++
			}
		}
		if n := len(edits); n > 0 && edits[n-1].to > from { // at the beginning of the file
			from = edits[n-1].to
		}
		edits = append(edits, edit{from, to, ""})
	}
	return edits, nil
}

// rename changes a name in each expression that has it in its path.
func (s tomlSyntax) rename(_ *Doc, parent *Value, i int, name string) ([]edit, error) {
	it := parent.items[i]
	t, ok := parent.in.(*table)
	if !ok {
		return []edit{{it.from, it.keyTo, s.key(name)}}, nil
	}
	path := append(t.path(), it.key)
	var edits []edit
	for _, e := range t.file.all {
		if !e.isBelow(path) {
			continue
		}
		written := e.what.depth - len(path) // parts behind the name; what a list's index shifts is refused later
		if n := len(e.parts) - 1 - written; n >= 0 && e.parts[n].key == it.key {
			edits = append(edits, edit{e.parts[n].from, e.parts[n].keyTo, s.key(name)})
		}
	}
	return edits, nil
}
