package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config/rewrite"
)

// exclude puts a server into the list of those that Gemini CLI does not connect, or takes it out.
func (f *opened) exclude(name string, out bool) error {
	list := []string{"mcp", "excluded"}
	if out {
		if !f.doc.Has(list) {
			return f.doc.Set(list, []string{name})
		}
		return f.doc.Set(append(list, "-"), name)
	}
	for i := 0; f.doc.Has(append(list, strconv.Itoa(i))); i++ {
		if at := append(slices.Clone(list), strconv.Itoa(i)); f.doc.Text(at) == name {
			if err := f.doc.Delete(at); err != nil {
				return err
			}
		}
	}
	for n := 2; n > 0 && f.doc.Has(list[:n]) && f.doc.Empty(list[:n]); n-- {
		if err := f.doc.Delete(list[:n]); err != nil {
			return err
		}
	}
	return nil
}

// opened is a file that is about to be changed.
type opened struct {
	candidate // its path with links resolved
	o         Options
	before    []byte       // nil for a file that is not there
	doc       *rewrite.Doc // what it becomes
	servers   []Server     // as they are written
	entry     written      // of openEntry
}

// dialectOr is the dialect of that name, or else that of a path.
func dialectOr(name, path string) *Dialect {
	if d, err := dialectNamed(name); err == nil {
		return d
	}
	return dialectOf(path)
}

// open reads a file that is to be changed. One that is not there is begun.
func (o Options) open(c candidate) (*opened, error) {
	if path, err := filepath.EvalSymlinks(c.path); err == nil {
		c.path = path
	}
	b, err := readFile(c.path, maxJSON)
	f := &opened{candidate: c, o: o, before: b}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.before, b = nil, []byte(c.dialect.style().head)
	case err != nil:
		return nil, asWarning(c.path, err)
	default:
		if f.servers, err = f.read(b); err != nil {
			return nil, err
		}
	}
	if f.doc, err = rewrite.Parse(c.path, b); err != nil {
		return nil, &EditError{File: c.path, Message: "cannot be changed: " + firstLine(err.Error()), Next: "change the file by hand"}
	}
	return f, nil
}

// read is the servers of a text as they are written there.
func (f *opened) read(b []byte) ([]Server, error) {
	o := f.o
	o.Literal = true
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	list, _, _, err := loadBytes(o, f.candidate, b)
	return list, err
}

// openEntry opens the file of an entry and finds it there: that of the name on the line, else the first of the name.
func (o Options) openEntry(src Source, name string) (*opened, *Server, error) {
	if src.File == "" {
		return nil, nil, &EditError{Message: clip(name) + " is in no file"}
	}
	f, err := o.open(candidate{path: src.File, dialect: dialectOr(src.Dialect, src.File), project: src.Project})
	if err != nil {
		return nil, nil, err
	}
	var found *Server
	for i, s := range f.servers {
		named := s.Name == name
		if named && (found == nil || s.Source.Line == src.Line) || s.Source.Line == src.Line && found == nil && strings.HasPrefix(name, s.Name+"-") {
			found = &f.servers[i]
		}
	}
	if found == nil || len(found.path) == 0 {
		return nil, nil, &EditError{File: src.File, Message: "no server " + clip(name), Next: "the file changed: look at the list again"}
	}
	f.entry = writtenAt(f.doc, found.path)
	return f, found, nil
}

// writtenAt is the entry at a path, as it stands there now.
func writtenAt(doc *rewrite.Doc, path []string) written {
	return written{strings.Join(path[:len(path)-1], "\x00"), doc.Value(path)}
}

// edit changes what differs between two entries.
func (f *opened) edit(from, to Server) (lost []string, err error) {
	from.Source.Dialect, from.Disabled = f.dialect.Name, false
	to.Disabled = false
	was, _ := f.dialect.entry(from)
	is, lost := f.dialect.entry(to)
	for _, m := range is {
		i := slices.IndexFunc(was, func(w rewrite.Member) bool { return w.Key == m.Key })
		if i >= 0 && reflect.DeepEqual(was[i].Value, m.Value) {
			continue
		}
		if err := f.doc.Set(f.member(from.path, m.Key), m.Value); err != nil {
			return nil, err
		}
	}
	for _, m := range was {
		if slices.ContainsFunc(is, func(i rewrite.Member) bool { return i.Key == m.Key }) {
			continue
		}
		if path := f.member(from.path, m.Key); f.doc.Has(path) {
			if err := f.doc.Delete(path); err != nil {
				return nil, err
			}
		}
	}
	return lost, nil
}

// member is where a field of an entry is: under another name that means the same, or in the transport.
func (f *opened) member(entry []string, key string) []string {
	path := append(slices.Clone(entry), key)
	if f.doc.Has(path) {
		return path
	}
	ours, _ := f.dialect.field(key)
	names := []string{ours}
	for theirs, name := range f.dialect.fields {
		if name != "" && name == ours {
			names = append(names, theirs)
		}
	}
	if ours == "type" {
		names = append(names, "transport")
	}
	slices.Sort(names)
	for _, in := range [][]string{entry, append(slices.Clone(entry), "transport"), append(slices.Clone(entry), "type")} {
		for _, name := range append(names, key) {
			other := append(slices.Clone(in), name)
			if name != "" && f.doc.Has(other) && !(name == "transport" && f.doc.Text(other) == "") {
				return other
			}
		}
	}
	return path
}

// change is what became of a file. It is checked that the other entries are what they were.
func (f *opened) change(server string, lost []string, err error, done func(now []Server) bool) (*Change, error) {
	if err != nil {
		return nil, &EditError{File: f.path, Message: firstLine(err.Error()), Next: "change the file by hand"}
	}
	c := &Change{File: f.path, Server: server, Before: f.before, After: f.doc.Bytes(), Next: f.dialect.Restart, entry: f.entry}
	c.noteOtherNames()
	for _, l := range lost {
		c.Notes = append(c.Notes, "left out "+l)
	}
	now, err := f.read(c.After)
	if err != nil {
		return nil, &EditError{File: f.path, Message: "would not be readable any more: " + firstLine(err.Error()), Next: "change the file by hand"}
	}
	if !sameOthers(f.servers, now) || done != nil && !done(now) {
		return nil, &EditError{File: f.path, Message: "would change more than the entry", Next: "change the file by hand"}
	}
	for _, s := range now {
		if s.Name == server {
			c.Line = s.Source.Line
			if s.Problem != nil {
				c.Notes = append(c.Notes, mask.Text(s.Problem.Error()))
			}
		}
	}
	for _, s := range slices.Concat(f.servers, now) {
		c.secrets = append(c.secrets, s.literalSecrets()...)
	}
	c.noteSecrets(now)
	return c, nil
}

// sameOthers reports whether at most one entry differs.
func sameOthers(before, now []Server) bool {
	plain := func(all []Server) map[string]Server {
		m := map[string]Server{}
		for _, s := range all {
			key := strings.Join(s.path[:max(len(s.path)-1, 0)], "\x00") + "\x00" + s.Name
			s.Source.Line, s.Problem, s.path = 0, nil, nil
			m[key] = s
		}
		return m
	}
	a, b := plain(before), plain(now)
	gone, come, differ := 0, 0, 0
	for k, s := range a {
		if other, ok := b[k]; !ok {
			gone++
		} else if !reflect.DeepEqual(s, other) {
			differ++
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			come++
		}
	}
	return gone <= 1 && come <= 1 && differ+max(gone, come) <= 1
}

// noteSecrets says where secrets of the entry are in the file as they are, which the diff does not show, and whether others can read them.
func (c *Change) noteSecrets(now []Server) {
	if !slices.ContainsFunc(now, func(s Server) bool { return s.Name == c.Server && len(s.literalSecrets()) > 0 }) {
		return
	}
	if info, err := os.Stat(c.File); err == nil && info.Mode().Perm()&0o077 != 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("others can read %s (mode %03o), and it has a secret now: take a variable, or chmod 600", c.File, info.Mode().Perm()))
		return
	}
	for line := range strings.Lines(c.Diff()) {
		if strings.HasPrefix(line, "+") && strings.Contains(line, mask.Hidden) {
			c.Notes = append(c.Notes, "what the diff hides is in the file as it is; a variable keeps a secret out of it")
			return
		}
	}
}
