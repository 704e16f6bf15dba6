package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

const (
	// FileName is what the file is called where nobody names it.
	FileName    = "mcphud.lock"
	lockVersion = 1        // of the file's form; another one is refused
	maxLock     = 64 << 20 // bytes of a file that is read
)

// Lock is the contracts of a project's servers, by our names for them.
type Lock struct {
	Servers map[string]*Contract
}

// Error is what is wrong with a file, and where.
type Error struct {
	File      string
	Line, Col int // from 1; 0 where it is the file as a whole
	Msg       string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Read reads a file. The error wraps fs.ErrNotExist where there is none, and is an *Error where its content is wrong.
func Read(path string) (*Lock, error) {
	raw, err := files.Read(path, maxLock)
	if err != nil {
		return nil, err
	}
	l, err := parse(raw)
	var bad *Error
	if errors.As(err, &bad) {
		bad.File = path
	}
	return l, err
}

// Write replaces a file. Everybody may read it: it belongs into version control.
func (l *Lock) Write(path string) error { return files.WriteMode(path, l.Bytes(), 0o644) }

// Find is the contract of a server: by our name for it, or by its own where only one has that, for people call one server differently. key is the
// name that the file has.
func (l *Lock) Find(name, own string) (key string, c *Contract) {
	if c := l.Servers[name]; c != nil {
		return name, c
	}
	for k, s := range l.Servers {
		if own != "" && s.Name == clean(own) {
			if c != nil {
				return "", nil
			}
			key, c = k, s
		}
	}
	return key, c
}

// Bytes returns the content of mcphud.lock: JSON in a canonical form, servers and definitions sorted, so that its diffs are those of the contract.
func (l *Lock) Bytes() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"version\": %d,\n  \"servers\": {", lockVersion)
	for i, name := range slices.Sorted(maps.Keys(l.Servers)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    " + quoteString(name) + ": {")
		l.Servers[name].write(&b)
		b.WriteString("\n    }")
	}
	b.WriteString("\n  }\n}\n")
	return []byte(b.String())
}

// write writes the members of a contract. What is "" is left out, so that it is read back as it was.
func (c *Contract) write(b *strings.Builder) {
	sep := ""
	field := func(name string, value func()) {
		b.WriteString(sep + "\n      " + quoteString(name) + ": ")
		value()
		sep = ","
	}
	for _, f := range [][2]string{{"name", c.Name}, {"version", c.Version}, {"protocol", c.Protocol}} {
		if f[1] != "" {
			field(f[0], func() { quote(b, f[1]) })
		}
	}
	if c.Capabilities != "" {
		field("capabilities", func() { pretty(b, c.Capabilities, "      ") })
	}
	if c.Instructions != "" {
		field("instructions", func() { // a line each, for a diff to show which changed
			b.WriteByte('[')
			for i, line := range strings.Split(c.Instructions, "\n") {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString("\n        ")
				quote(b, line)
			}
			b.WriteString("\n      ]")
		})
	}
	for _, k := range kinds() {
		list, ok := c.Lists[k]
		if !ok {
			continue
		}
		field(member(k), func() {
			b.WriteByte('{')
			for i, key := range slices.Sorted(maps.Keys(list)) {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString("\n        " + quoteString(key) + ": ")
				pretty(b, list[key], "        ")
			}
			if len(list) > 0 {
				b.WriteString("\n      ")
			}
			b.WriteByte('}')
		})
	}
}

// parse reads a file's content. The error is an *Error without the file's name.
func parse(raw []byte) (*Lock, error) {
	if err := findMergeMarkers(raw); err != nil {
		return nil, err
	}
	doc, err := schema.ParseValue(raw)
	var syntax *schema.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &Error{Line: syntax.Line, Col: syntax.Column, Msg: syntax.Msg}
	}
	r := reader{raw}
	if doc.Kind() != schema.Object {
		return nil, &Error{Line: 1, Col: 1, Msg: "is not an object with version and servers"}
	}
	if err := r.twice(doc, nil); err != nil {
		return nil, err
	}
	version := doc.Get("version")
	switch {
	case !version.IsSet():
		return nil, &Error{Line: 1, Col: 1, Msg: "has no version"}
	case version.Literal() != fmt.Sprint(lockVersion):
		return nil, r.wrong("version is %s, and this program reads %d", []string{"version"}, version.Literal(), lockVersion)
	case doc.Get("servers").Kind() != schema.Object:
		return nil, r.wrong("servers is not an object", []string{"servers"})
	}
	l := &Lock{Servers: map[string]*Contract{}}
	for _, m := range doc.Get("servers").Members() {
		c, err := r.contract(m.Value, []string{"servers", m.Name})
		if err != nil {
			return nil, err
		}
		l.Servers[m.Name] = c
	}
	return l, nil
}

// findMergeMarkers finds the marks that a merge leaves behind.
func findMergeMarkers(raw []byte) error {
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		for _, mark := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
			if bytes.HasPrefix(line, []byte(mark)) {
				return &Error{Line: n, Col: 1, Msg: fmt.Sprintf("a merge conflict is not resolved (%s)", mark)}
			}
		}
	}
	return nil
}

// reader reads contracts out of a file, and finds the places of what is wrong there.
type reader struct{ raw []byte }

// contract is one server's. at is the path that leads to v. A member that is not known is an error: the next write would lose it.
func (r reader) contract(v *schema.Value, at []string) (*Contract, error) {
	if v.Kind() != schema.Object {
		return nil, r.wrong("is not an object", at)
	}
	c := &Contract{Lists: map[offer.Kind]map[string]string{}}
	below := func(name string) []string { return append(slices.Clip(at), name) }
	for _, m := range v.Members() {
		var list *offer.Kind
		for _, k := range kinds() {
			if member(k) == m.Name {
				list = &k
			}
		}
		text := map[string]*string{"name": &c.Name, "version": &c.Version, "protocol": &c.Protocol}[m.Name]
		switch {
		case text != nil:
			if m.Value.Kind() != schema.String {
				return nil, r.wrong("%s is not a string", below(m.Name), m.Name)
			}
			*text = m.Value.Text()
		case m.Name == "capabilities":
			if m.Value.Kind() != schema.Object {
				return nil, r.wrong("capabilities is not an object", below(m.Name))
			}
			c.Capabilities = Canonical(m.Value.JSON())
		case m.Name == "instructions":
			var said []string
			for i, l := range m.Value.Members() {
				if l.Value.Kind() != schema.String {
					return nil, r.wrong("a line of instructions is not a string", append(below(m.Name), fmt.Sprint(i)))
				}
				said = append(said, l.Value.Text())
			}
			if m.Value.Kind() != schema.Array {
				return nil, r.wrong("instructions is not an array of lines", below(m.Name))
			}
			c.Instructions = strings.Join(said, "\n")
		case list != nil:
			if m.Value.Kind() != schema.Object {
				return nil, r.wrong("%s is not an object", below(m.Name), m.Name)
			}
			c.Lists[*list] = make(map[string]string, m.Value.Len())
			for _, it := range m.Value.Members() {
				if it.Value.Kind() != schema.Object {
					return nil, r.wrong("a definition is not an object", append(below(m.Name), it.Name))
				}
				c.Lists[*list][it.Name] = Canonical(it.Value.JSON())
			}
		default:
			return nil, r.wrong("%q is not a member of a contract", below(m.Name), m.Name)
		}
	}
	return c, nil
}

// twice finds a member that is there more than once, which a merge can do: nobody knows which one counts.
func (r reader) twice(v *schema.Value, at []string) error {
	if len(at) > 5 { // below are definitions, which are as the server sent them
		return nil
	}
	seen := map[string]bool{}
	for _, m := range v.Members() {
		if v.Kind() != schema.Object {
			return nil
		}
		here := append(slices.Clip(at), m.Name)
		if seen[m.Name] {
			line, col := r.locate(here, 2)
			return &Error{Line: line, Col: col, Msg: fmt.Sprintf("%.60q is there twice", m.Name)}
		}
		seen[m.Name] = true
		if err := r.twice(m.Value, here); err != nil {
			return err
		}
	}
	return nil
}

// wrong is an error at a path, the first of that path where a member is there twice.
func (r reader) wrong(format string, at []string, args ...any) error {
	line, col := r.locate(at, 1)
	return &Error{Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// locate is where the nth member with this path begins, at its name, or the item of an array; 1:1 where there is none. It reads the file once more:
// only an error needs it. Columns count characters, from 1.
func (r reader) locate(path []string, nth int) (line, col int) {
	pointer := jsontext.Pointer(schema.Pointer(path...))
	in := jsontext.NewDecoder(bytes.NewBuffer(r.raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		rest := bytes.TrimLeft(r.raw[in.InputOffset():], " \t\r\n,:")
		if _, err := in.ReadToken(); err != nil {
			return 1, 1
		}
		if in.StackPointer() != pointer {
			continue
		}
		kind, n := in.StackIndex(in.StackDepth())
		if kind == '{' && n%2 == 1 { // its name
			nth--
		} else if n > 0 && kind == '[' {
			nth-- // an item, which has none
		}
		if nth > 0 {
			continue
		}
		head := r.raw[:len(r.raw)-len(rest)]
		start := bytes.LastIndexByte(head, '\n') + 1
		return bytes.Count(head, []byte("\n")) + 1, utf8.RuneCount(head[start:]) + 1
	}
}

// ErrUnlistable is wrapped by the error of Accept for a server whose lists cannot be read.
var ErrUnlistable = errors.New("a list of the server cannot be read")

// Accept makes now the contract of a server, under our name for it, else under its own. The file is not written yet. Where a list could not be
// read nothing changes: the contract would say that all its items are gone.
func (l *Lock) Accept(name string, now *Contract) error {
	for _, k := range kinds() {
		if err := now.Unknown[k]; err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUnlistable, k.Method(), err)
		}
	}
	if l.Servers == nil {
		l.Servers = map[string]*Contract{}
	}
	l.Servers[cmp.Or(name, now.Name, "server")] = now
	return nil
}
