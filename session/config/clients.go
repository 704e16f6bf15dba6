package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// clientFile is one file of a client, and the members that lead to its servers.
type clientFile struct {
	path  string
	lists [][]string
}

// ownFile is the client of a file that was named by its path.
var ownFile = &Dialect{Title: "the client of this file", Restart: "restart the client that reads it"}

// files are those of a client, in its own order of precedence.
func (d *Dialect) files(o Options) (files []clientFile) {
	if d.client != nil {
		return d.client(o)
	}
	for _, f := range append(d.projectFiles(o), d.userFiles(o)...) {
		files = append(files, clientFile{f, d.lists})
	}
	return files
}

// ProgramOf is what the maker of a dialect's program calls it.
func ProgramOf(dialect string) string {
	if dialect == generic.Name {
		return "any program"
	}
	for _, d := range dialects {
		if d.Name == dialect && d.Title != "" {
			return d.Title
		}
	}
	return dialect
}

// ClientNames are the clients that [FindEntry] knows.
func ClientNames() (names []string) {
	for _, d := range dialects {
		if d.Title != "" {
			names = append(names, d.Name)
		}
	}
	return names
}

// client finds a client by its name, or takes the name for the path of a file.
func (o Options) client(name string) (*Dialect, []clientFile, bool) {
	i := slices.IndexFunc(dialects, func(d *Dialect) bool { return d.Title != "" && d.Name == strings.ToLower(name) })
	if i >= 0 {
		return dialects[i], dialects[i].files(o), true
	}
	if strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" {
		path := o.abs(name)
		lists := slices.Concat(dialectOf(path).lists, usualLists, [][]string{{"mcp", "servers"}})
		if filepath.Base(path) == ".claude.json" {
			lists = append([][]string{{"projects", o.Cwd, "mcpServers"}}, lists...)
		}
		return ownFile, []clientFile{{path, lists}}, true
	}
	return nil, nil, false
}
