package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// Destination is a file that servers can be written to.
type Destination struct {
	File    string // absolute path
	Dialect string
	Title   string // whose file it is: "Claude Code, this folder"
	Project bool   // a file of the working folder
	Exists  bool
}

// Destinations are the files that servers can be written to, mcphud's own first: those that exist, and those of programs whose
// folder does.
func (o Options) Destinations() (all []Destination) {
	for i, c := range o.candidates() {
		if c.path == "" || c.dialect == generic && !c.required {
			continue
		}
		info, err := os.Stat(c.path)
		exists := err == nil && info.Mode().IsRegular()
		_, err = os.Stat(filepath.Dir(c.path))
		if exists || err == nil || i == 0 || c.required {
			all = append(all, c.destination(exists))
		}
	}
	return all
}

func (c candidate) destination(exists bool) Destination {
	title := c.dialect.program()
	if c.project {
		title += ", this folder"
	}
	return Destination{File: c.path, Dialect: c.dialect.Name, Title: title, Project: c.project, Exists: exists}
}

// Destination is where a server goes that is added to a client by its name, to a file by its path, or with "" to mcphud's own file.
func (o Options) Destination(to string) (Destination, error) {
	if to == "" {
		if all := o.candidates(); len(all) > 0 && all[0].path != "" {
			_, err := os.Stat(all[0].path)
			return all[0].destination(err == nil), nil
		}
		return Destination{}, &EditError{Message: "there is no file to write to: no home folder", Next: "name a file"}
	}
	if d, err := dialectNamed(to); err == nil && d.Title != "" {
		files := append(d.userFiles(o), d.projectFiles(o)...)
		found := candidate{dialect: d}
		for _, f := range files {
			if _, err := os.Stat(f); f != "" && (err == nil || found.path == "") {
				found.path = f
				if err == nil {
					break
				}
			}
		}
		if found.path == "" {
			return Destination{}, &EditError{Message: "cannot find the configuration of " + d.Title, Next: "name its file"}
		}
		found.project = slices.Contains(d.projectFiles(o), found.path)
		_, err := os.Stat(found.path)
		return found.destination(err == nil), nil
	}
	if !strings.ContainsAny(to, `/\`) && filepath.Ext(to) == "" {
		return Destination{}, &EditError{Message: "unknown client: " + clip(to), Next: "write " + strings.Join(ClientNames(), ", ") + ", or the path of a file"}
	}
	path := o.abs(to)
	_, err := os.Stat(path)
	return candidate{path: path, dialect: dialectOf(path), project: o.Cwd != "" && strings.HasPrefix(path, o.Cwd+string(filepath.Separator))}.destination(err == nil), nil
}

// Change is what a file would become. Nothing is written before Save. It was checked that the file can still be read and that no other entry differs.
type Change struct {
	File   string // with symbolic links resolved
	Server string // the name of the entry, after the change
	Before []byte // nil where there is no file
	After  []byte
	Notes  []string // what the file cannot say, and what else its owner should know
	Lost   []string // what is not kept of the file when it is replaced: other names (hard links), and after Save extended attributes
	Next   string   // what makes the program read the file again
	Line   int      // of the entry in the file that has it: After, or Before where it is removed

	secrets []string                // of all entries, before and after, as they stand in the text: Diff hides them
	plan    func() (*Change, error) // makes the change of the file as it is by then; nil where it is of Before alone
	entry   written                 // that is changed, as it was
}

// written is an entry as it stands in a file: the list that has it, and its value; the zero value for one that is not there yet.
type written struct {
	list  string
	value any
}

// withPlan makes a change, which Save makes again where another program has written the file meanwhile.
func withPlan(plan func() (*Change, error)) (*Change, error) {
	c, err := plan()
	if c != nil {
		c.plan = plan
	}
	return c, err
}

// Entry is an entry as it is written in its file, see [Options.Literal].
func (o Options) Entry(src Source, name string) (Server, error) {
	_, at, err := o.openEntry(src, name)
	if err != nil {
		return Server{}, err
	}
	return *at, nil
}

// AddEntry puts a server into a file. The values of s are as for [Encode].
func (o Options) AddEntry(to Destination, s Server) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.addEntry(to, s) })
}

func (o Options) addEntry(to Destination, s Server) (*Change, error) {
	f, err := o.open(candidate{path: to.File, dialect: dialectOr(to.Dialect, to.File), project: to.Project})
	if err != nil {
		return nil, err
	}
	if err := f.checkName(s.Name); err != nil {
		return nil, err
	}
	_, lost, err := f.dialect.put(f.doc, s)
	for _, l := range lost { // somebody else's text must not get at variables of this machine
		if s.Source.Published != nil && strings.HasSuffix(l, takenForVariable) {
			return nil, &EditError{Message: "not saved, because of what its publisher wrote: " + l, Next: "save it in a file of a program that replaces no variables"}
		}
	}
	return f.change(s.Name, lost, err, func(now []Server) bool {
		return slices.ContainsFunc(now, func(v Server) bool { return v.Name == s.Name })
	})
}

// EditEntry makes an entry say what s says: what both say stays as it is written, and what is not about the connection. The values
// of s are as for [Encode]; its name is not looked at.
func (o Options) EditEntry(src Source, name string, s Server) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.editEntry(src, name, s) })
}

func (o Options) editEntry(src Source, name string, s Server) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err != nil {
		return nil, err
	}
	s.Name = at.Name
	lost, err := f.edit(*at, s)
	return f.change(at.Name, lost, err, nil)
}

// EditText is EditEntry by a text: a file in the same dialect that has just this entry, as [Encode] writes it.
func (o Options) EditText(src Source, name string, b []byte) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.editText(src, name, b) })
}

func (o Options) editText(src Source, name string, b []byte) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err != nil {
		return nil, err
	}
	list, err := f.read(b)
	var bad Warning
	switch {
	case errors.As(err, &bad):
		bad.File = filepath.Base(bad.File)
		return nil, bad
	case err != nil:
		return nil, err
	case len(list) != 1:
		return nil, &EditError{Message: fmt.Sprintf("the text has %d servers", len(list)), Next: "leave one in it"}
	case list[0].Problem != nil:
		return nil, list[0].Problem
	}
	if err := check(list[0]); err != nil {
		return nil, err
	}
	lost, err := f.edit(*at, list[0])
	if to := list[0].Name; err == nil && to != at.Name {
		if err := f.checkName(to); err != nil {
			return nil, err
		}
		return f.change(to, lost, f.rename(at, to), nil)
	}
	return f.change(at.Name, lost, err, nil)
}

// check is what is wrong with an entry as it is written.
func check(s Server) error {
	switch {
	case s.Transport == Stdio && s.Command == "":
		return &EditError{Message: "the entry has no command and no url", Next: "give it one of them"}
	case s.Transport != Stdio && s.URL == "":
		return &EditError{Message: "the entry has no url to connect to", Next: "give it one"}
	}
	return nil
}

// RemoveEntry takes an entry out of its file.
func (o Options) RemoveEntry(src Source, name string) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.removeEntry(src, name) })
}

func (o Options) removeEntry(src Source, name string) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err != nil {
		return nil, err
	}
	err = f.doc.Delete(at.path)
	if err == nil && f.dialect == gemini {
		err = f.exclude(at.Name, false)
	}
	c, err := f.change(at.Name, nil, err, nil)
	if c != nil {
		c.Line = at.Source.Line
	}
	return c, err
}

// RenameEntry gives an entry another name.
func (o Options) RenameEntry(src Source, name, to string) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.renameEntry(src, name, to) })
}

func (o Options) renameEntry(src Source, name, to string) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err == nil {
		err = f.checkName(to)
	}
	if err != nil {
		return nil, err
	}
	return f.change(to, nil, f.rename(at, to), nil)
}

// DuplicateEntry writes an entry once more, under another name, with what only its program knows of it.
func (o Options) DuplicateEntry(src Source, name, to string) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.duplicateEntry(src, name, to) })
}

func (o Options) duplicateEntry(src Source, name, to string) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err == nil {
		err = f.checkName(to)
	}
	if err != nil {
		return nil, err
	}
	return f.change(to, nil, f.duplicate(at, to), func(now []Server) bool {
		return slices.ContainsFunc(now, func(v Server) bool { return v.Name == to })
	})
}

// duplicate writes an entry once more under the name to, behind the others of its list.
func (f *opened) duplicate(at *Server, to string) error {
	entry, ok := f.doc.Value(at.path).(rewrite.Object)
	if !ok {
		return errors.New("the entry is not an object")
	}
	for i, m := range entry {
		if said := f.doc.Text(append(slices.Clone(at.path), m.Key)); (m.Key == "id" || m.Key == "name") && said == at.Name {
			entry[i].Value = to
		}
	}
	last := len(at.path) - 1
	path := append(slices.Clone(at.path[:last]), to)
	if f.doc.IsList(at.path[:last]) {
		path[last] = "-" // behind the others
	}
	err := f.doc.Set(path, entry)
	if err == nil && f.dialect == gemini && at.Disabled {
		err = f.exclude(to, true)
	}
	return err
}

// checkName refuses a name that an entry cannot be given.
func (f *opened) checkName(name string) error {
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return &EditError{Message: fmt.Sprintf("%q cannot be the name of a server", clip(name)), Next: "give it one"}
	}
	for _, have := range f.servers {
		if have.Name == name {
			return &EditError{File: have.Source.String(), Message: "there is a server " + clip(name) + " already", Next: "choose another name, or change that entry"}
		}
	}
	return nil
}

// rename gives an entry another name: that of its member, or in a list its id or name.
func (f *opened) rename(at *Server, to string) (err error) {
	last := len(at.path) - 1
	if f.doc.IsList(at.path[:last]) {
		key := append(slices.Clone(at.path), "id")
		if !f.doc.Has(key) {
			key[last+1] = "name"
		}
		err = f.doc.Set(key, to)
	} else {
		err = f.doc.Rename(at.path, to)
	}
	if err == nil && f.dialect == gemini && at.Disabled {
		err = errors.Join(f.exclude(at.Name, false), f.exclude(to, true))
	}
	return err
}

// EnableEntry says in an entry that its server may be used, or that it must not. Where the file's program has no way to say so,
// it is refused.
func (o Options) EnableEntry(src Source, name string, on bool) (*Change, error) {
	return withPlan(func() (*Change, error) { return o.enableEntry(src, name, on) })
}

func (o Options) enableEntry(src Source, name string, on bool) (*Change, error) {
	f, at, err := o.openEntry(src, name)
	if err != nil {
		return nil, err
	}
	y := f.dialect.style()
	if y.off.Key == "" && f.dialect != gemini {
		return nil, &EditError{File: at.Source.String(), Message: f.dialect.program() + " has no way to disable a server in its file", Next: "disable it in the program, or remove the entry"}
	}
	if at.Disabled == !on {
		return nil, &EditError{File: at.Source.String(), Message: clip(at.Name) + " is " + map[bool]string{true: "enabled", false: "disabled"}[on] + " already"}
	}
	if f.dialect == gemini {
		err = f.exclude(at.Name, !on)
		return f.change(at.Name, nil, err, func(now []Server) bool {
			return slices.ContainsFunc(now, func(v Server) bool { return v.Name == at.Name && v.Disabled == !on })
		})
	}
	for _, key := range []string{"enabled", "disabled"} { // whichever is there
		path := append(slices.Clone(at.path), key)
		switch has := f.doc.Has(path); {
		case has && on && y.on.Key != key:
			err = f.doc.Delete(path)
		case has, key == y.off.Key && !on:
			err = f.doc.Set(path, (key == "enabled") == on)
		}
		if err != nil {
			break
		}
	}
	return f.change(at.Name, nil, err, func(now []Server) bool {
		return slices.ContainsFunc(now, func(v Server) bool { return v.Name == at.Name && v.Disabled == !on })
	})
}
