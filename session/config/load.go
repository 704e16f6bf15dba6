package config

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Set is everything the configuration files say, merged. It is a snapshot of when they were read; see Follow.
type Set struct {
	Servers  []Server // in order of precedence; no name is there twice
	Settings Settings
	Files    []File    // those that exist, in order of precedence
	Looked   []File    // all that were looked for, in order of precedence
	Warnings []Warning // of all files, each with its own
}

// File is a configuration file that was found, or in Set.Looked only looked for.
type File struct {
	Path    string `json:"path"`
	Dialect string `json:"dialect"`
	Project bool   `json:"project,omitempty"`
	Servers int    `json:"servers"`         // entries in it
	Absent  bool   `json:"-"`               // it is not there
	Err     error  `json:"-"`               // why nothing of it could be read
	Error   string `json:"error,omitempty"` // Err's text

	stamp files.Stamp // by which a change is noticed
}

// Server finds an entry by its name.
func (s Set) Server(name string) (Server, bool) {
	for _, v := range s.Servers {
		if v.Name == name {
			return v, true
		}
	}
	return Server{}, false
}

// Load reads every file that Options names and merges them (see the package comment). A file that cannot be read is a
// Warning and in Set.Files; it is an error as well only when the user named that file. The Set is complete in either
// case.
func Load(o Options) (Set, error) {
	var s Set
	var failed error
	seen := map[string][]int{} // fingerprint of the expanded entry -> indices of s.Servers
	for _, c := range o.candidates() {
		stamp := files.StampOf(c.path)
		entries, settings, doc, err := loadFile(o, c)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && !c.required {
				s.Looked = append(s.Looked, File{stamp: stamp, Path: c.path, Dialect: c.dialect.Name, Project: c.project, Absent: true})
				continue
			}
			w := asWarning(c.path, err)
			s.Warnings = append(s.Warnings, w)
			f := File{stamp: stamp, Path: c.path, Dialect: c.dialect.Name, Project: c.project, Absent: errors.Is(err, fs.ErrNotExist), Err: w, Error: w.Error()}
			s.Files, s.Looked = append(s.Files, f), append(s.Looked, f)
			if c.required {
				failed = errors.Join(failed, w)
			}
			continue
		}
		f := File{stamp: stamp, Path: c.path, Dialect: c.dialect.Name, Project: c.project, Servers: len(entries)}
		s.Files, s.Looked = append(s.Files, f), append(s.Looked, f)
		s.Warnings = append(s.Warnings, doc.warnings...)
		s.Settings.merge(settings, c.path)
		for _, e := range entries {
			s.add(e, seen)
		}
	}
	return s, failed
}

// add merges one entry: the same server again, a name that is taken, or new.
func (s *Set) add(e Server, seen map[string][]int) {
	// By the values that count: one text means different things in two dialects.
	print := e.fingerprint()
	for _, i := range seen[print] {
		if have := &s.Servers[i]; have.givenName() == e.Name && have.sameOptions(e) {
			have.Also = append(have.Also, e.Source)
			return
		}
	}
	if _, taken := s.Server(e.Name); taken {
		e.Given = e.Name
		for n := 2; taken; n++ {
			e.Name = e.Given + "-" + strconv.Itoa(n)
			_, taken = s.Server(e.Name)
		}
		if p, ok := e.Problem.(*EntryError); ok {
			p.Server = e.Name
		}
	}
	seen[print] = append(seen[print], len(s.Servers))
	s.Servers = append(s.Servers, e)
}

// givenName is the name that the entry has in its file.
func (s Server) givenName() string {
	if s.Given != "" {
		return s.Given
	}
	return s.Name
}

// sameOptions compares what Fingerprint leaves out. What the later entry says nothing about makes no difference.
func (s Server) sameOptions(later Server) bool {
	return s.Disabled == later.Disabled && s.NoReconnect == later.NoReconnect && same(s.Protocol, later.Protocol) &&
		same(s.Timeout, later.Timeout) && same(s.MaxTimeout, later.MaxTimeout) && same(s.ConnectTimeout, later.ConnectTimeout) &&
		same(s.MaxFrame, later.MaxFrame)
}

// same reports whether a later value says nothing, or nothing else.
func same[T comparable](have, later T) bool {
	var none T
	return later == none || later == have
}

// asWarning is an error about a file, of this package or of the file system, as a Warning.
func asWarning(path string, err error) Warning {
	var w Warning
	if errors.As(err, &w) {
		return w
	}
	// A PathError would say the path again.
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return Warning{File: path, Message: "cannot be read: " + err.Error(), Malformed: true}
}

// loadFile reads one file. Its error is a Warning or comes from the file system.
func loadFile(o Options, c candidate) ([]Server, Settings, *document, error) {
	b, err := readFile(c.path, maxJSON)
	if err != nil {
		return nil, Settings{}, nil, err
	}
	return loadBytes(o, c, b)
}

// loadBytes is loadFile for a text at hand: the servers in the order of the file, resolved.
func loadBytes(o Options, c candidate, b []byte) (out []Server, st Settings, d *document, err error) {
	if d, err = parse(c.path, b); err != nil {
		return nil, Settings{}, nil, err
	}
	raw, st, err := readRoot(o, d, c)
	if err != nil {
		return nil, Settings{}, nil, err
	}
	for _, e := range raw {
		out = append(out, e.resolve(o, st, nil))
	}
	return out, st, d, nil
}

// resolve is the server that an entry describes, or with [Options.Literal] what is written there.
func (e *entry) resolve(o Options, st Settings, given setup.Values) Server {
	raw := e
	e = e.clone()
	e.decideTransport()
	if o.Literal {
		asked := e.clone()
		asked.expand(o, nil)
		e.EnvFile, e.Inputs = e.envFile, asked.Inputs
		if len(e.problems) > 0 {
			e.Problem = &EntryError{Server: e.Name, Problems: e.problems}
		}
		return e.Server
	}
	e.readEnvFile(o)
	e.written = e.fingerprint(e.presets(o)...)
	e.expand(o, given)
	v := e.finish()
	st.Timeouts.apply(&v)
	if len(v.Inputs) > 0 {
		v.pending = &pending{raw, o, st, given}
	}
	return v
}

// presets are what the file gives its inputs, as far as the entry refers to them: whoever only presses enter runs that.
func (e *entry) presets(o Options) (out []string) {
	if len(e.declared) == 0 {
		return nil
	}
	asked := e.clone()
	asked.expand(o, nil)
	for _, in := range asked.Inputs {
		if in.Default != "" {
			out = append(out, in.Name+"="+in.Default)
		}
	}
	return out
}

// readRoot finds the servers in whichever of the shapes the file has.
func readRoot(o Options, d *document, c candidate) ([]*entry, Settings, error) {
	r := &reader{doc: d, dialect: c.dialect, cwd: o.Cwd, src: Source{File: c.path, Dialect: c.dialect.Name, Project: c.project}}
	if k := d.root.kind(); k != object {
		if k == null && yamlName(c.path) {
			return nil, Settings{}, nil // a file of comments
		}
		line, col := d.root.pos()
		return nil, Settings{}, Warning{File: c.path, Line: line, Col: col, Malformed: true, Message: "holds " + string(k) + "; write an object with mcpServers or servers"}
	}
	if c.dialect.before != nil {
		c.dialect.before(r)
	}
	r.servers(d.root)
	for _, m := range d.root.members() {
		switch {
		case m.key == "mcp" && c.dialect.mcp:
			r.mcp(m.value)
		case c.dialect.settings && r.settings.read(d, m):
		case c.dialect.strict && !slices.ContainsFunc(c.dialect.lists, func(l []string) bool { return l[0] == m.key }) && m.key != "$schema" && m.key != "version" && !slices.Contains(c.dialect.known, m.key):
			d.warnAt(m.line, m.col, "unknown key %q is ignored", clip(m.key))
		}
	}
	if !r.found && c.required {
		d.warnAt(0, 0, "has no servers: none of %s is there", c.dialect.listNames())
	}
	return r.entries, r.settings, nil
}

// reader reads the servers and settings of one file.
type reader struct {
	doc      *document
	dialect  *Dialect
	cwd      string // Options.Cwd, for dialects that have servers by project
	src      Source // of every entry, but for the line
	entries  []*entry
	settings Settings
	found    bool          // the file has a list of servers, empty or not
	inputs   []setup.Input // that the file declares for its entries
	excluded []string      // servers that the program does not connect, whatever their entries say
	allowed  []string      // the only ones that it connects; empty for all
}

// servers reads the lists of servers that an object has.
func (r *reader) servers(n node) {
	for _, path := range r.dialect.lists {
		list, ok := n, true
		for _, key := range path {
			if list, ok = list.get(key); !ok {
				break
			}
		}
		if ok {
			r.found = true
			r.list(strings.Join(path, "."), list)
		}
	}
}

// listNames names the lists of servers that a file can have.
func (d *Dialect) listNames() string {
	var names []string
	for _, l := range d.lists {
		names = append(names, strings.Join(l, "."))
	}
	if d.mcp {
		names = append(names, "mcp.servers")
	}
	return strings.Join(names, ", ")
}

// mcp reads a block that has servers with ids, and settings.
func (r *reader) mcp(n node) {
	for _, m := range n.members() {
		switch {
		case m.key == "servers":
			r.found = true
			r.list("mcp.servers", m.value)
		case r.settings.read(r.doc, m):
		default:
			r.doc.warnAt(m.line, m.col, "unknown key %q of mcp is ignored", clip(m.key))
		}
	}
}

// list reads a list of servers: an object by their names, or an array whose elements have an id or a name. key is for warnings.
func (r *reader) list(key string, n node) {
	switch k := n.kind(); k {
	case object:
		for _, m := range n.members() {
			if r.dialect.skip == nil || !r.dialect.skip(m.value) {
				r.entry(m.key, m.line, m.col, m.value)
			}
		}
	case array:
		for _, el := range n.elems() {
			if r.dialect.skip != nil && r.dialect.skip(el) {
				continue
			}
			line, col := el.pos()
			id, _ := el.get("id")
			if id.kind() == null {
				id, _ = el.get("name")
			}
			name := id.text()
			if name == "" {
				r.doc.warnAt(line, col, "a server of %s has no id and is ignored", key)
				continue
			}
			r.entry(name, line, col, el)
		}
	case null:
	default:
		line, col := n.pos()
		r.doc.warnAt(line, col, "%s is %s; write an object of servers", key, k)
	}
}

// entry adds one, replacing one of its name in the same file and saying so.
func (r *reader) entry(name string, line, col int, n node) {
	if name == "" {
		r.doc.warnAt(line, col, "a server without a name is ignored")
		return
	}
	src := r.src
	src.Line = line
	e := r.readEntry(name, n, src)
	e.Disabled = e.Disabled || r.isExcluded(name)
	for i, have := range r.entries {
		if have.Name == name && !r.dialect.repeats {
			r.doc.warnAt(line, col, "server %q is given twice, first on line %d; this one counts", clip(name), have.Source.Line)
			r.entries[i] = e
			return
		}
	}
	r.entries = append(r.entries, e)
}
