package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// EditError is why an entry of a client's configuration cannot be changed. Nothing was written.
type EditError struct {
	File    string // "" where no file is concerned
	Message string
	Next    string // what to do; may be ""
}

func (e *EditError) Error() string {
	if e.File == "" {
		return e.Message
	}
	return e.File + ": " + e.Message
}

// Place is the entry of a server in a client's configuration.
type Place struct {
	Client Client
	File   string   // with symbolic links resolved
	Line   int      // of the entry's name
	Argv   []string // what the entry runs, as it is written; empty for a server that is reached by a URL
	URL    string

	path    []string // members that lead to the entry
	before  []byte   // the file as it was read
	edits   []edit
	command *hujson.ObjectMember
	args    *hujson.ObjectMember
}

// FindEntry finds a server in the configuration of a client: one of [ClientNames], or the path of a file. In a client of several
// files it is the entry that the client uses.
func (o Options) FindEntry(client, server string) (*Place, error) {
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
	return nil, &EditError{File: strings.Join(looked, ", "), Message: "no server " + clip(server), Next: "it has " + clip(strings.Join(names, ", "))}
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
	if isYAML(path, b) {
		return nil, nil, &EditError{File: path, Message: "is not JSON", Next: "change this file by hand"}
	}
	d, err := parse(path, b)
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(b, []byte("\xef\xbb\xbf")) {
		return nil, nil, &EditError{File: path, Message: "begins with a byte order mark", Next: "save it as UTF-8 without one, then try again"}
	}
	p = &Place{File: path, before: b}
	for _, list := range f.lists {
		at := d.root.j
		for _, key := range list {
			if m := memberOf(at, key); m != nil {
				at = &m.Value
			} else {
				at = nil
			}
		}
		o, ok := objectOf(at)
		if !ok {
			continue
		}
		for i := range o.Members {
			names = append(names, nameOf(&o.Members[i]))
		}
		if m := memberOf(at, server); m != nil {
			p.path = append(slices.Clone(list), server)
			p.Line, _ = d.position(m.Name.StartOffset)
			return p, nil, p.read(&m.Value)
		}
	}
	return nil, names, nil
}

// read takes the entry apart.
func (p *Place) read(v *hujson.Value) error {
	bad := func(why string) error {
		return &EditError{File: fmt.Sprintf("%s:%d", p.File, p.Line), Message: why, Next: "change the entry by hand"}
	}
	o, ok := objectOf(v)
	if !ok {
		return bad("the entry is not an object")
	}
	for i := range o.Members {
		m := &o.Members[i]
		switch nameOf(m) {
		case "command":
			if p.command != nil {
				return bad("command is given twice")
			}
			p.command = m
		case "args":
			if p.args != nil {
				return bad("args is given twice")
			}
			p.args = m
		case "url", "serverUrl":
			p.URL, _ = textOf(&m.Value)
		}
	}
	if p.command == nil {
		return nil
	}
	command, ok := textOf(&p.command.Value)
	if !ok {
		return bad("command is not a string")
	}
	p.Argv = []string{command}
	if p.args == nil {
		return nil
	}
	list, ok := p.args.Value.Value.(*hujson.Array)
	if !ok {
		return bad("args is not a list")
	}
	for i := range list.Elements {
		arg, ok := textOf(&list.Elements[i])
		if !ok {
			return bad("args has something else than strings")
		}
		p.Argv = append(p.Argv, arg)
	}
	return nil
}

// memberOf is the member of an object that counts, the last of its name; nil if there is none.
func memberOf(v *hujson.Value, key string) *hujson.ObjectMember {
	o, ok := objectOf(v)
	if !ok {
		return nil
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if nameOf(&o.Members[i]) == key {
			return &o.Members[i]
		}
	}
	return nil
}

func objectOf(v *hujson.Value) (*hujson.Object, bool) {
	if v == nil {
		return nil, false
	}
	o, ok := v.Value.(*hujson.Object)
	return o, ok
}

func nameOf(m *hujson.ObjectMember) string {
	s, _ := textOf(&m.Name)
	return s
}

func textOf(v *hujson.Value) (string, bool) {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return "", false
	}
	return l.String(), true
}

// Prefix makes the entry run argv in front of what it runs: its command becomes argv's first, and its arguments the others, the
// command as it was, and the arguments as they were.
func (p *Place) Prefix(argv ...string) {
	old := p.before[p.command.Value.StartOffset:p.command.Value.EndOffset]
	head := make([]string, 0, len(argv))
	for _, a := range argv[1:] {
		head = append(head, string(jsonString(a)))
	}
	front := strings.Join(append(head, string(old)), ", ")
	p.SetCommand(argv[0])
	list, ok := (*hujson.Array)(nil), false
	if p.args != nil {
		list, ok = p.args.Value.Value.(*hujson.Array)
	}
	switch {
	case !ok:
		gap := gapOf(p.command.Name.BeforeExtra)
		p.edit(p.command.Value.EndOffset, p.command.Value.EndOffset, ","+gap+`"args": [`+front+"]")
	case len(list.Elements) == 0:
		p.edit(p.args.Value.StartOffset+1, p.args.Value.StartOffset+1, front)
	default:
		p.edit(list.Elements[0].StartOffset, list.Elements[0].StartOffset, front+", ")
	}
}

// SetCommand makes the entry run another program with the same arguments.
func (p *Place) SetCommand(name string) {
	p.edit(p.command.Value.StartOffset, p.command.Value.EndOffset, string(jsonString(name)))
}

// Strip takes away the command and n-1 of its arguments: what Prefix put in front.
func (p *Place) Strip(n int) {
	list := p.args.Value.Value.(*hujson.Array)
	first, last := list.Elements[0], list.Elements[n-1]
	p.edit(p.command.Value.StartOffset, p.command.Value.EndOffset, string(p.before[last.StartOffset:last.EndOffset]))
	if n < len(list.Elements) {
		p.edit(first.StartOffset, list.Elements[n].StartOffset, "")
		return
	}
	if from, ok := p.added(); ok { // Prefix made the list
		p.edit(from, p.args.Value.EndOffset, "")
		return
	}
	p.edit(first.StartOffset, last.EndOffset, "")
}

// added is where args begins with its comma, if it stands as Prefix puts it there.
func (p *Place) added() (from int, ok bool) {
	from = p.command.Value.EndOffset
	gap := "," + gapOf(p.command.Name.BeforeExtra) + `"args": [`
	return from, p.args.Name.StartOffset > from && bytes.HasPrefix(p.before[from:], []byte(gap))
}

// gapOf is the white space that a member of the same object has before it.
func gapOf(extra hujson.Extra) string {
	s := string(extra)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 && strings.TrimSpace(s[i:]) == "" {
		if i > 0 && s[i-1] == '\r' {
			i--
		}
		return s[i:]
	}
	return " "
}

func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string: cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
