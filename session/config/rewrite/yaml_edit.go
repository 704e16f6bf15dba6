package rewrite

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// plainYAML is text that is a string of YAML without quotes, in brackets too; notString is what is something else.
var (
	plainYAML = lazyPattern(`^(?:[A-Za-z0-9_./]|-+[A-Za-z0-9_])(?:[A-Za-z0-9_./@+=~-]|:[A-Za-z0-9_./])*$`)
	notString = lazyPattern(`(?i)^(?:true|false|yes|no|on|off|y|n|null|nan|[-+]?\.?(?:inf|nan)|[-+.]*[0-9][0-9a-fox_.:eTtZz+-]*)$`)
)

// lazyPattern compiles a pattern when it is used: most runs of the program change no file.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func (yamlSyntax) scalar(v any) string {
	switch v := v.(type) {
	case string:
		if plainYAML().MatchString(v) && !notString().MatchString(v) {
			return v
		}
		return jsonString(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func (s yamlSyntax) key(k string) string { return s.scalar(k) }

func (yamlSyntax) colon() string { return ": " }

// pair is a member as a block: its lines, of which the first has no indent, for that is there already or comes from whoever puts it somewhere.
func (s yamlSyntax) pair(d *Doc, key string, v any, indent string) string {
	return s.key(key) + ":" + s.textAfter(d, v, indent)
}

// textAfter is what follows the colon of a line with that indent: objects, and lists of nothing but objects, on lines below, all else in brackets on the
// same line.
func (s yamlSyntax) textAfter(d *Doc, v any, indent string) string {
	switch v := v.(type) {
	case Object:
		if len(v) > 0 {
			return "\n" + indent + d.unit() + s.members(d, v, indent+d.unit())
		}
	case []any:
		var lines []string
		for _, one := range v {
			if o, ok := one.(Object); ok && len(o) > 0 {
				lines = append(lines, "\n"+indent+d.unit()+"- "+s.members(d, o, indent+d.unit()+"  "))
			}
		}
		if len(v) > 0 && len(lines) == len(v) {
			return strings.Join(lines, "")
		}
	}
	return " " + d.flowText(v, indent, false)
}

// members are the pairs of an object as a block, of which the first line has no indent.
func (s yamlSyntax) members(d *Doc, o Object, indent string) string {
	var lines []string
	for _, m := range o {
		lines = append(lines, s.pair(d, m.Key, m.Value, indent))
	}
	return strings.Join(lines, "\n"+indent)
}

// insert adds to a block, in the indent of the last item. Brackets that are empty, or nothing at all, become a block.
func (s yamlSyntax) insert(d *Doc, at *Value, key string, v any) ([]edit, error) {
	if len(at.items) == 0 {
		if at.kind == array {
			return s.replace(d, at, []any{v})
		}
		return s.replace(d, at, Object{{key, v}})
	}
	last := at.items[len(at.items)-1]
	end := last.value.in.(place).end
	start, _ := d.lineStart(last.from)
	indent := strings.Repeat(" ", last.from-start)
	if at.kind == object {
		return []edit{{end, end, "\n" + indent + s.pair(d, key, v, indent)}}, nil
	}
	return []edit{{end, end, "\n" + indent + s.element(d, v, indent)}}, nil
}

// element is one of a block list.
func (s yamlSyntax) element(d *Doc, v any, indent string) string {
	if o, ok := v.(Object); ok && len(o) > 0 {
		return "- " + s.members(d, o, indent+"  ")
	}
	return "- " + d.flowText(v, indent, false)
}

// insertBefore puts elements in front of item i, on lines of their own; refused for a list whose dashes follow others on a line (- - a).
func (s yamlSyntax) insertBefore(d *Doc, at *Value, i int, values []any) ([]edit, error) {
	from := at.items[i].from
	start, blank := d.lineStart(from)
	if !blank || at.flow {
		return nil, ErrLossy
	}
	text := ""
	for _, v := range values {
		text += string(d.b[start:from]) + s.element(d, v, string(d.b[start:from])) + "\n"
	}
	return []edit{{start, start, text}}, nil
}

// replace writes another value behind a colon or a dash. The comment behind that stays on its line, also where the value moves to lines below it.
func (s yamlSyntax) replace(d *Doc, at *Value, v any) ([]edit, error) {
	p := at.in.(place)
	if !p.block {
		return []edit{{at.from, at.to, d.flowText(v, "", false)}}, nil
	}
	indent := strings.Repeat(" ", p.indent)
	o, _ := v.(Object)
	if p.colon < 0 { // the document
		text := d.flowText(v, "", false)
		if len(o) > 0 {
			text = s.members(d, o, "")
		}
		if at.from == at.to { // nothing but comments
			if at.from > 0 && d.b[at.from-1] != '\n' {
				text = "\n" + text
			}
			text += "\n"
		}
		return []edit{{at.from, at.to, text}}, nil
	}
	text := s.textAfter(d, v, indent)
	if d.b[p.colon-1] == '-' {
		text = " " + d.flowText(v, indent, false)
		if len(o) > 0 {
			text = " " + s.members(d, o, indent+"  ")
		}
	}
	switch {
	case len(at.items) > 0 && !at.flow: // a block becomes something else
		line := p.colon + bytes.IndexByte(d.b[p.colon:], '\n')
		if at.from < line { // - key: value
			return []edit{{p.colon, at.to, text}}, nil
		}
		if first, rest, lines := strings.Cut(text, "\n"); lines {
			return []edit{{p.colon, p.colon, first}, {line, at.to, "\n" + rest}}, nil
		}
		return []edit{{p.colon, p.colon, text}, {line, at.to, ""}}, nil
	case strings.HasPrefix(text, "\n"):
		end := at.to
		for end < len(d.b) && d.b[end] != '\n' {
			end++
		}
		if len(bytes.TrimSpace(d.b[at.to:end])) == 0 {
			return []edit{{p.colon, end, text}}, nil
		}
		return []edit{{p.colon, at.to, ""}, {end, end, text}}, nil
	case at.from == at.to:
		return []edit{{p.colon, p.colon, text}}, nil
	}
	return []edit{{at.from, at.to, strings.TrimPrefix(text, " ")}}, nil
}

// remove takes the lines of an item out of a block. The last one of its block leaves empty brackets: nothing would be null.
func (s yamlSyntax) remove(d *Doc, parent *Value, i int) ([]edit, error) {
	it := parent.items[i]
	if len(parent.items) == 1 {
		if parent.kind == array {
			return s.replace(d, parent, []any{})
		}
		return s.replace(d, parent, Object{})
	}
	start, blank := d.lineStart(it.from)
	end := it.value.in.(place).end
	switch {
	case !blank && i+1 < len(parent.items): // - key: value
		return []edit{{it.from, parent.items[i+1].from, ""}}, nil
	case !blank:
		return nil, ErrLossy
	case start > 0: // with the line end before it: the last line of a file may have none
		return []edit{{start - 1, end, ""}}, nil
	}
	return []edit{{0, min(end+1, len(d.b)), ""}}, nil
}

// rename needs a name that is written as it is: one of an alias, say, is that of another place.
func (s yamlSyntax) rename(_ *Doc, parent *Value, i int, name string) ([]edit, error) {
	it := parent.items[i]
	if it.keyTo < 0 {
		return nil, ErrLossy
	}
	return []edit{{it.from, it.keyTo, s.key(name)}}, nil
}
