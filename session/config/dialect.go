package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Dialect is the format of one program's files: where they are, and how servers stand in them. To add one, write it in a file
// of its own, put it into [dialects], and add files of it to testdata/everything.
type Dialect struct {
	Name  string // as [Source] has it
	Files string // where its files are, as the manual says it

	user    func(Options) string   // the user's file; "" or nil for none
	project []string               // files of the working folder, in order of precedence
	owns    func(path string) bool // whether a file that the user points at is in this dialect, by its name

	lists    []string          // the top-level members that hold servers
	strict   bool              // other top-level members are mistakes: the file holds nothing but servers
	settings bool              // top-level members can be Settings
	before   func(r *reader)   // reads servers that stand elsewhere and come before the lists'; may be nil
	repeats  bool              // two servers of a file can have the same name; else the later one counts
	fields   map[string]string // further fields of an entry: the name of ours that each is, or "" where it is not about the connection
	http     string            // the transport that "http" stands for
	expand   expansion         // nil where values are literal
}

// dialects are all of them, those whose files have precedence first. The last one is for files of any other name.
var dialects = []*Dialect{mcphudDialect, claudeCode, claudeDesktop, cursor, generic}

// usualLists are where most programs keep their servers.
var usualLists = []string{"mcpServers", "servers"}

// displayFields are fields by which other programs show a server or ask for permission.
var displayFields = map[string]string{"description": "", "name": "", "icon": "", "alwaysAllow": "", "autoApprove": "", "auth": ""}

// dialectOf is the dialect of a file that the user points at.
func dialectOf(path string) *Dialect {
	i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.owns(path) })
	return dialects[i] // generic owns all
}

// named is an owns for files that have one of these names, in whatever case.
func named(names ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(names, strings.ToLower(filepath.Base(path))) }
}

// commonFields are the fields of an entry that every dialect may have.
var commonFields = set("type", "transport", "command", "args", "env", "envFile", "cwd", "url", "headers", "headersHelper", "oauth",
	"enabled", "disabled", "protocol", "roots", "timeout", "max_timeout", "connect_timeout", "max_frame", "auto_reconnect")

// field is our name for a field of an entry, "" for one to pass over in silence; false for an unknown one.
func (d *Dialect) field(key string) (name string, known bool) {
	if commonFields[key] {
		return key, true
	}
	name, known = d.fields[key]
	return name, known
}

// candidate is a file that may exist.
type candidate struct {
	path     string
	dialect  *Dialect
	project  bool
	required bool // named by the user: not being there is an error
}

// candidates lists o's files in order of precedence (see the package comment).
func (o Options) candidates() []candidate {
	var all []candidate
	for _, f := range o.Files {
		f = o.abs(f)
		all = append(all, candidate{path: f, dialect: dialectOf(f), required: true})
	}
	if len(all) > 0 {
		return all
	}
	for _, d := range dialects {
		if d.user != nil {
			all = append(all, candidate{path: d.user(o), dialect: d})
		}
	}
	if f := o.env("MCPHUD_CONFIG"); f != "" {
		f = o.abs(f)
		all[0] = candidate{path: f, dialect: dialectOf(f), required: true}
	}
	for _, d := range dialects {
		for _, f := range d.project {
			all = append(all, candidate{path: under(o.Cwd, filepath.FromSlash(f)), dialect: d, project: true})
		}
	}
	// Started from the home folder, one file can be found twice; the first mention says whose it is.
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(all, func(c candidate) bool {
		again := seen[c.path]
		seen[c.path] = true
		return again
	})
}

func (o Options) abs(path string) string {
	if filepath.IsAbs(path) || o.Cwd == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(o.Cwd, path)
}

// words is a set of keys.
type words map[string]bool

func set(keys ...string) words {
	w := words{}
	for _, k := range keys {
		w[k] = true
	}
	return w
}
