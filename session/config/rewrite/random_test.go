package rewrite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// writer writes a random file, with a comment wherever one may stand.
type writer struct {
	*rand.Rand
	b        strings.Builder
	comments int
	unit     string
}

func (w *writer) comment(mark string) string {
	if w.IntN(4) > 0 {
		return ""
	}
	w.comments++
	return fmt.Sprintf(" %s c%d;", mark, w.comments)
}

func (w *writer) word() string {
	return []string{"a", "key", "naïve", "with space", "x.y", "0", "true", `q"uote`, "-dash", "colon: x", "#hash", "a#b", "日本"}[w.IntN(13)]
}

// object is a random value; deep ones are few.
func (w *writer) object(depth int) Object {
	o := Object{}
	for i := range 1 + w.IntN(4) {
		o = append(o, Member{w.word() + strconv.Itoa(i), w.value(depth - 1)})
	}
	return o
}

func (w *writer) value(depth int) any {
	switch n := w.IntN(8); {
	case n < 3:
		return w.word()
	case n == 3:
		return w.IntN(1000)
	case n == 4:
		return w.IntN(2) == 0
	case n == 5 || depth <= 0:
		list := []any{}
		for range w.IntN(4) {
			list = append(list, w.word())
		}
		return list
	}
	return w.object(depth)
}

func (w *writer) json(v any, indent string) {
	switch v := v.(type) {
	case Object:
		lines := w.IntN(3) > 0
		w.b.WriteString("{")
		for i, m := range v {
			if lines {
				w.b.WriteString(w.comment("//") + "\n" + indent + w.unit)
			}
			w.b.WriteString(jsonString(m.Key) + ":" + strings.Repeat(" ", w.IntN(2)))
			w.json(m.Value, indent+w.unit)
			if i < len(v)-1 || lines && w.IntN(3) == 0 {
				w.b.WriteString(",")
			}
		}
		if lines {
			w.b.WriteString(w.comment("//") + "\n" + indent)
		}
		w.b.WriteString("}")
	case []any:
		w.b.WriteString("[")
		for i, one := range v {
			if i > 0 {
				w.b.WriteString("," + []string{"", " ", "\n" + indent + w.unit, " /* between */ "}[w.IntN(4)])
			}
			w.json(one, indent)
		}
		w.b.WriteString("]")
	default:
		w.b.WriteString(jsonSyntax{}.scalar(v))
	}
}

func (w *writer) yaml(v Object, indent string) {
	for _, m := range v {
		if c := w.comment("#"); c != "" {
			w.b.WriteString(indent + c[1:] + "\n")
		}
		w.b.WriteString(indent + yamlSyntax{}.key(m.Key) + ":")
		switch x := m.Value.(type) {
		case Object:
			if w.IntN(4) == 0 {
				w.b.WriteString(" ")
				d := &Doc{syntax: yamlSyntax{}, b: []byte(" x: 1\n")}
				w.b.WriteString(d.flowText(x, "", false) + w.comment("#") + "\n")
				continue
			}
			w.b.WriteString(w.comment("#") + "\n")
			w.yaml(x, indent+w.unit)
		case []any:
			if len(x) == 0 || w.IntN(2) == 0 {
				d := &Doc{syntax: yamlSyntax{}, b: []byte(" x: 1\n")}
				w.b.WriteString(" " + d.flowText(x, "", false) + w.comment("#") + "\n")
				continue
			}
			w.b.WriteString("\n")
			for _, one := range x {
				w.b.WriteString(indent + w.unit + "- " + yamlSyntax{}.scalar(one) + w.comment("#") + "\n")
			}
		default:
			w.b.WriteString(" " + yamlSyntax{}.scalar(x) + w.comment("#") + "\n")
		}
		if w.IntN(6) == 0 {
			w.b.WriteString("\n")
		}
	}
}

func (w *writer) toml(path []string, v Object) {
	var tables Object
	d := &Doc{syntax: tomlSyntax{}, b: []byte(" x = 1\n")}
	for _, m := range v {
		if o, ok := m.Value.(Object); ok && w.IntN(4) > 0 {
			tables = append(tables, Member{m.Key, o})
			continue
		}
		w.b.WriteString(tomlSyntax{}.key(m.Key) + " = " + d.flowText(m.Value, "", false) + w.comment("#") + "\n")
	}
	for _, m := range tables {
		at := append(append([]string{}, path...), m.Key)
		if w.IntN(2) == 0 {
			w.b.WriteString("\n")
		}
		w.b.WriteString("[" + tomlSyntax{}.keys(at) + "]" + w.comment("#") + "\n")
		w.toml(at, m.Value.(Object))
	}
}

// walk is a random path in a value.
func (w *writer) walk(v Object) (path []string, at any) {
	for {
		m := v[w.IntN(len(v))]
		path = append(path, m.Key)
		o, ok := m.Value.(Object)
		if !ok || w.IntN(3) == 0 {
			return path, m.Value
		}
		v = o
	}
}

// In random files of each format: what is added and taken away again leaves the file as it was; a value that is changed keeps every
// comment that is not in it, and all other values. Nothing of it is refused.
func TestRandomEdits(t *testing.T) {
	const rounds = 300
	for _, name := range []string{"x.json", "x.yaml", "x.toml"} {
		refused := 0
		for seed := range uint64(rounds) {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), unit: []string{"  ", "    ", " "}[seed%3]}
			root := w.object(4)
			switch name {
			case "x.json":
				if w.unit = []string{"  ", "    ", "\t"}[seed%3]; true {
					w.json(root, "")
				}
			case "x.yaml":
				w.yaml(root, "")
			case "x.toml":
				w.toml(nil, root)
			}
			text := w.b.String()
			if seed%4 == 0 {
				text = strings.TrimRight(text, "\n")
			}
			if seed%5 == 0 {
				text = strings.ReplaceAll(text, "\n", "\r\n")
			}
			d, err := Parse(name, []byte(text))
			if err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", name, seed, err, text)
			}
			if !reflect.DeepEqual(d.root.plain(), plainOf(root)) {
				t.Fatalf("%s, seed %d: read as %v, not %v\n%s", name, seed, d.root.plain(), plainOf(root), text)
			}
			check := func(what string, err error, same bool) bool {
				t.Helper()
				now := string(d.Bytes())
				switch {
				case err != nil && !errors.Is(err, ErrLossy):
					t.Fatalf("%s, seed %d: %s: %v\n%s", name, seed, what, err, text)
				case err != nil:
					refused++
					if now != text {
						t.Fatalf("%s, seed %d: %s was refused, but the file changed\n%s\n%s", name, seed, what, text, now)
					}
					return false
				case same && now != text:
					t.Fatalf("%s, seed %d: %s:\n%q\nwas\n%q", name, seed, what, now, text)
				case strings.Contains(text, "\r\n") && strings.Count(now, "\r\n") != strings.Count(now, "\n"), !strings.Contains(text, "\r\n") && strings.Contains(now, "\r"):
					t.Fatalf("%s, seed %d: %s: line endings differ\n%q\n%q", name, seed, what, text, now)
				}
				return true
			}
			path, at := w.walk(root)
			parent := path[:len(path)-1]
			added := append(append([]string{}, parent...), "new one")
			if check("adding", d.Set(added, w.value(2)), false) {
				if err := d.Set(append(added, "inner"), w.value(1)); err == nil {
					check("changing what was added", nil, false)
				}
				_ = d.Rename(added, "renamed")
				if added[len(added)-1] = "renamed"; !d.Has(added) {
					added[len(added)-1] = "new one"
				}
				check("deleting what was added", d.Delete(added), true)
			}
			comments := func(s string) (n int) { return strings.Count(s, ";") }
			d, _ = Parse(name, []byte(text))
			if _, isObject := at.(Object); !isObject {
				value := w.value(0)
				if _, list := at.([]any); !list && check("setting", d.Set(path, value), false) {
					if got, _ := getPlain(d.root.plain(), path); !reflect.DeepEqual(got, plainOf(value)) {
						t.Fatalf("%s, seed %d: %v is %v, not %v", name, seed, path, got, value)
					}
					if comments(string(d.Bytes())) != comments(text) {
						t.Fatalf("%s, seed %d: setting %v to %v lost a comment\n%s\n%s", name, seed, path, value, text, d.Bytes())
					}
				}
			}
			d, _ = Parse(name, []byte(text))
			if check("deleting", d.Delete(path), false) && d.Has(path) {
				t.Fatalf("%s, seed %d: %v is still there\n%s", name, seed, path, d.Bytes())
			}
		}
		t.Logf("%s: %d of %d changes were refused", name, refused, rounds*4)
		if refused > 0 {
			t.Errorf("%s: %d of %d changes were refused", name, refused, rounds*4)
		}
	}
}
