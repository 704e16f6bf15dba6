package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// EditError is why an entry of a client's configuration cannot be changed. Nothing was written.
type EditError struct {
	File    string // "" where no file is concerned
	Message string
	Next    string   // what to do; may be ""
	Names   []string // of the servers that are there, where one was not
}

func (e *EditError) Error() string {
	if e.File == "" {
		return e.Message
	}
	return e.File + ": " + e.Message
}

// Place is the entry of a server in a client's configuration.
type Place struct {
	Client *Dialect // the program that reads the file
	File   string   // with symbolic links resolved
	Line   int      // of the entry's name
	Argv   []string // what the entry runs, as it is written; empty for a server that is reached by a URL
	URL    string
	Lost   []string // after Save, see [Change]

	path    []string // members that lead to the entry
	before  []byte   // the file as it was read
	doc     *rewrite.Doc
	command string // what the program and its arguments are called
	joined  bool   // the program is the first of its arguments
	err     error  // of a change

	find  func() (*Place, error) // finds it again
	edits []func(*Place)         // that were made
	entry written                // as it was
}

// FindEntry finds a server in the configuration of a client: one of [ClientNames], or the path of a file. In a client of several
// files it is the entry that the client uses.
func (o Options) FindEntry(client, server string) (*Place, error) {
	p, err := o.findEntry(client, server)
	if p != nil {
		p.find = func() (*Place, error) { return o.findEntry(client, server) }
	}
	return p, err
}

func (o Options) findEntry(client, server string) (*Place, error) {
	c, files, ok := o.client(client)
	if !ok {
		return nil, &EditError{Message: "unknown client: " + clip(client), Next: "write " + strings.Join(ClientNames(), ", ") + ", or the path of its configuration file"}
	}
	var names, looked []string
	for _, f := range files {
		if f.path == "" || slices.Contains(looked, f.path) && len(f.lists) == 0 {
			continue
		}
		p, found, err := find(f, server)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			looked = append(looked, f.path)
			continue
		case err != nil:
			return nil, err
		}
		looked = append(looked, f.path)
		if p != nil {
			p.Client = c
			return p, nil
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	names, looked = slices.Compact(names), slices.Compact(looked)
	switch {
	case len(looked) == 0:
		return nil, &EditError{Message: "cannot find the configuration of " + c.Title + ": there is no home folder"}
	case len(names) == 0:
		return nil, &EditError{Message: "no servers in " + strings.Join(looked, ", "), Next: "name the file that has the server"}
	}
	return nil, &EditError{File: strings.Join(looked, ", "), Message: "no server " + clip(server), Next: "it has " + clip(strings.Join(names, ", ")), Names: names}
}

// find looks for a server in a file, and returns the names of all where it is not there.
func find(f clientFile, server string) (p *Place, names []string, err error) {
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return nil, nil, err
	}
	b, err := readFile(path, maxJSON)
	if err != nil {
		return nil, nil, asWarning(path, err)
	}
	d, err := parse(path, b)
	if err != nil {
		return nil, nil, err
	}
	p = &Place{File: path, before: b}
	for _, list := range f.lists {
		at := d.root
		for _, key := range list {
			at, _ = at.get(key)
		}
		found := at.members()
		for _, el := range at.elems() {
			line, col := el.pos()
			for _, key := range []string{"id", "name"} {
				if id, ok := el.get(key); ok {
					found = append(found, member{id.text(), line, col, el})
					break
				}
			}
		}
		for _, m := range found {
			if names = append(names, m.key); m.key == server && m.value.path != nil {
				p.path, p.Line = m.value.path, m.line
				return p, nil, p.read(m.value)
			}
		}
	}
	return nil, names, nil
}

// read takes the entry apart.
func (p *Place) read(n node) (err error) {
	bad := func(why string) error {
		return &EditError{File: fmt.Sprintf("%s:%d", p.File, p.Line), Message: why, Next: "change the entry by hand"}
	}
	if n.kind() != object {
		return bad("the entry is not an object")
	}
	if p.doc, err = rewrite.Parse(p.File, p.before); err != nil {
		return bad(firstLine(err.Error()))
	}
	p.entry = writtenAt(p.doc, p.path)
	var args []string
	for _, m := range n.members() {
		switch m.key {
		case "command", "cmd":
			p.command, p.joined = m.key, m.value.kind() == array
			switch {
			case p.joined:
				p.Argv = stringsOf(m.value)
			case m.value.kind() == str:
				p.Argv = []string{m.value.text()}
			}
			if len(p.Argv) == 0 {
				return bad(m.key + " is not a string")
			}
		case "args":
			if m.value.kind() != array {
				return bad("args is not a list")
			}
			if args = stringsOf(m.value); args == nil && len(m.value.elems()) > 0 {
				return bad("args has something else than strings")
			}
		case "url", "serverUrl", "httpUrl", "uri":
			p.URL = m.value.text()
		}
		if p.doc.Repeated(m.value.path) {
			return bad(m.key + " is given twice")
		}
	}
	if p.command != "" && !p.joined {
		p.Argv = append(p.Argv, args...)
	}
	return nil
}

// stringsOf are the elements of a list of strings; nil for another.
func stringsOf(list node) (out []string) {
	for _, el := range list.elems() {
		if el.kind() != str {
			return nil
		}
		out = append(out, el.text())
	}
	return out
}

// Prefix makes the entry run argv in front of what it runs: its command becomes argv's first, and its arguments the others, the
// command as it was, and the arguments as they were.
func (p *Place) Prefix(argv ...string) {
	list := make([]any, 0, len(argv)+len(p.Argv))
	for _, a := range argv {
		list = append(list, a)
	}
	p.do(func(p *Place) { p.set(append(slices.Clip(list), p.argvValues(0, len(p.Argv))...)) })
}

// do makes an edit, which Save makes again where the file changed meanwhile.
func (p *Place) do(edit func(*Place)) {
	p.edits = append(p.edits, edit)
	edit(p)
}

// SetCommand makes the entry run another program with the same arguments.
func (p *Place) SetCommand(name string) {
	p.do(func(p *Place) { p.set(append([]any{name}, p.argvValues(1, len(p.Argv))...)) })
}

// Strip takes away the command and n-1 of its arguments: what Prefix put in front.
func (p *Place) Strip(n int) { p.do(func(p *Place) { p.set(p.argvValues(n, len(p.Argv))) }) }

// argvValues are words of Argv as the file spells them.
func (p *Place) argvValues(from, to int) (out []any) {
	for i := from; i < to; i++ {
		switch {
		case p.joined:
			out = append(out, p.doc.Value(p.member(p.command, strconv.Itoa(i))))
		case i == 0:
			out = append(out, p.doc.Value(p.member(p.command)))
		default:
			out = append(out, p.doc.Value(p.member("args", strconv.Itoa(i-1))))
		}
	}
	return out
}

func (p *Place) member(keys ...string) []string { return append(slices.Clone(p.path), keys...) }

// set makes the entry run argv.
func (p *Place) set(argv []any) {
	if p.joined {
		p.err = errors.Join(p.err, p.doc.Set(p.member(p.command), argv))
		return
	}
	p.err = errors.Join(p.err, p.doc.Set(p.member(p.command), argv[0]))
	switch args := p.member("args"); {
	case len(argv) > 1 || p.doc.Has(args) && !p.doc.Last(args):
		p.err = errors.Join(p.err, p.doc.Set(args, argv[1:]))
	case p.doc.Has(args): // Prefix made the list, at the end
		p.err = errors.Join(p.err, p.doc.Delete(args))
	}
}

// Save writes the entry as it is now, see [Change.Save].
func (p *Place) Save() (backup string, err error) {
	c, err := p.change()
	if err != nil {
		return "", err
	}
	c.plan = func() (*Change, error) {
		now, err := p.find()
		if err != nil {
			return nil, err
		}
		if reflect.DeepEqual(now.entry, p.entry) { // else Save refuses
			for _, edit := range p.edits {
				edit(now)
			}
		}
		return now.change()
	}
	defer func() { p.Lost = c.Lost }()
	return c.Save()
}

func (p *Place) change() (*Change, error) {
	if p.err != nil {
		return nil, &EditError{File: p.File, Message: firstLine(p.err.Error()), Next: "change the entry by hand"}
	}
	c := &Change{File: p.File, Before: p.before, After: p.doc.Bytes(), entry: p.entry}
	c.noteOtherNames()
	return c, nil
}

func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
