package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Dialect is the format of one program's files: where they are, and how servers stand in them. To add one, write it in a file
// of its own, put it into [dialects], and add files of it to testdata/dialects.
type Dialect struct {
	Name    string // as [Source] has it
	Title   string // as its maker calls the program; "" for a file that belongs to none
	Restart string // what makes the program read its files again: "quit and start Claude Desktop"; "" where it does by itself
	Files   string // where its files are, as the manual says it

	user     func(Options) []string        // the user's files, in order of precedence; nil for none
	project  []string                      // files of the working folder, in order of precedence; the last element can be a pattern
	owns     func(path string) bool        // whether a file that the user points at is in this dialect, by its name
	client   func(Options) []clientFile    // the program's own order of precedence; nil: project, then user
	lists    [][]string                    // the members that lead to servers
	mcp      bool                          // has a member mcp with servers and settings
	strict   bool                          // other top-level members are mistakes: the file holds nothing but servers
	settings bool                          // top-level members can be Settings
	known    []string                      // further top-level members that a strict file can have
	before   func(r *reader)               // reads what stands elsewhere and comes before the lists; may be nil
	repeats  bool                          // two servers of a file can have the same name; else the later one counts
	skip     func(n node) bool             // entries of what the program has built in, which is not a server; may be nil
	fields   map[string]string             // further fields of an entry: the name of ours that each is, or "" where it is not about the connection
	read     map[string]func(*entry, node) // fields that mean something of their own
	after    func(*entry, *expander)       // completes what was read and expanded; may be nil
	http     string                        // the transport that "http" stands for
	expand   expansion                     // nil where values are literal
	writes   func() *style                 // how entries are written; nil: as files that belong to no program have them
}

// dialects are all of them, those whose files have precedence first. The last one is for files of any other name.
var dialects = []*Dialect{
	mcphudDialect, claudeCode, claudeDesktop, cursor, vscode, windsurf, zed, gemini, continueDialect, codex, opencode, cline, goose,
	inspector, generic,
}

// usualLists are where most programs keep their servers.
var usualLists = [][]string{{"mcpServers"}, {"servers"}}

// displayFields are fields by which other programs show a server or ask for permission.
var displayFields = map[string]string{"description": "", "name": "", "icon": "", "alwaysAllow": "", "autoApprove": "", "auth": ""}

// dialectOf is the dialect of a file that the user points at. What no other program calls its file is ours if it is YAML.
func dialectOf(path string) *Dialect {
	for _, d := range append(slices.Clone(dialects[1:len(dialects)-1]), mcphudDialect) {
		if d.owns(path) {
			return d
		}
	}
	return generic
}

// ownsNames is an owns for files that have one of these names, in whatever case.
func ownsNames(names ...string) func(string) bool {
	return func(path string) bool { return slices.Contains(names, strings.ToLower(filepath.Base(path))) }
}

// namedIn is ownsNames for files in a folder of one of these names.
func namedIn(folders []string, names ...string) func(string) bool {
	return func(path string) bool {
		return ownsNames(names...)(path) && slices.Contains(folders, strings.ToLower(filepath.Base(filepath.Dir(path))))
	}
}

// commonFields are the fields of an entry that every dialect may have.
var commonFields = set("type", "transport", "command", "args", "env", "envFile", "cwd", "sandbox", "url", "launch", "headers", "headersHelper", "oauth",
	"enabled", "disabled", "protocol", "roots", "timeout", "max_timeout", "connect_timeout", "max_frame", "auto_reconnect",
	"proxy", "ca", "client_cert", "client_key", "insecure")

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
		for _, f := range d.userFiles(o) {
			all = append(all, candidate{path: f, dialect: d})
		}
	}
	if f := o.env("MCPHUD_CONFIG"); f != "" {
		f = o.abs(f)
		all[0] = candidate{path: f, dialect: dialectOf(f), required: true}
	}
	for _, d := range dialects {
		for _, f := range d.projectFiles(o) {
			all = append(all, candidate{path: f, dialect: d, project: true})
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

// userFiles are the user's files of a program, "" among them for one whose folder is not known.
func (d *Dialect) userFiles(o Options) []string {
	if d.user == nil {
		return nil
	}
	return d.user(o)
}

// projectFiles are those of the working folder, patterns replaced by the files that fit.
func (d *Dialect) projectFiles(o Options) (files []string) {
	for _, f := range d.project {
		folder, pattern := path.Split(f)
		if folder = under(o.Cwd, filepath.FromSlash(folder)); strings.Contains(pattern, "*") {
			files = append(files, matchingFiles(folder, pattern)...)
		} else {
			files = append(files, under(folder, pattern))
		}
	}
	return files
}

// mostFiles bounds the files of one folder that are read.
const mostFiles = 100

// matchingFiles are the files of a folder whose names fit, sorted.
func matchingFiles(folder, pattern string) (files []string) {
	if folder == "" {
		return nil
	}
	entries, _ := os.ReadDir(folder) // one that is not there has no files
	for _, e := range entries {
		if ok, _ := path.Match(pattern, e.Name()); ok && len(files) < mostFiles {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}

// editorFolder is where VS Code, and an editor made from it, keeps what a user set.
func editorFolder(o Options, editor string) string {
	return under(appFolder(o), editor, "User")
}

// appFolder is where desktop programs keep their settings.
func appFolder(o Options) string {
	switch o.goos() {
	case "windows":
		return o.env("APPDATA")
	case "darwin":
		return under(o.Home, "Library", "Application Support")
	}
	return o.xdg("XDG_CONFIG_HOME", ".config")
}

// abs is a path that the user names, relative to the working folder.
func (o Options) abs(path string) string {
	if filepath.IsAbs(path) || o.Cwd == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(o.Cwd, path)
}

// words is a set of keys.
type words map[string]bool

// set makes one of these keys.
func set(keys ...string) words {
	w := words{}
	for _, k := range keys {
		w[k] = true
	}
	return w
}
