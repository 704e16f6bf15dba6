package routes

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/files"
)

const (
	// maxFiles is how many files of a folder count, the first ones by name.
	maxFiles = 10_000
	// maxForeign is how large a file in a folder that others may write to, or the value of a key, may be.
	maxForeign = 64 << 10
)

// piece is what one file, or one key, gives. It belongs to whoever reads it: Load, or the watcher's goroutine.
type piece struct {
	order string      // in which pieces are merged: "0" and the name of a file, or "1" and a key, so that files come first
	path  string      // of the file; "" for a key
	stamp files.Stamp // of the file when it was read
	needs files.Stamp // then, of the file because of which it is of no use
	text  string      // of the key
	table *Table      // the last valid one; nil for none yet
	err   error       // why it does not count as it stands now; nil if it does
}

// why is its error, and what that means.
func (p *piece) why() error {
	if p.table == nil {
		return fmt.Errorf("%w; nothing of it is in force", p.err)
	}
	return fmt.Errorf("%w; the last valid ones stay in force", p.err)
}

// missingFile is the file because of which p is of no use, "" if that is for another reason, or if it is in order.
func (p *piece) missingFile() string {
	var ca *caError
	if errors.As(p.err, &ca) {
		return ca.file
	}
	return ""
}

// fits reports whether a file is as it was when it was read.
func (p *piece) fits(now files.Stamp) bool {
	return now.Equal(p.stamp) && files.StampOf(p.missingFile()).Equal(p.needs)
}

// read reads the file.
func (p *piece) read(foreign bool) {
	p.stamp = files.StampOf(p.path)
	var t *Table
	if t, p.err = load(p.path, foreign); p.err == nil {
		p.table = t
	}
	p.needs = files.StampOf(p.missingFile())
}

// folder reports whether routes are in a folder of files instead of a file.
func folder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// names are the files of a folder that count: those whose name ends in .json and begins with no dot, sorted. foreign reports
// that other users may add some.
func names(dir string) (names []string, foreign bool, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		if n := e.Name(); filepath.Ext(n) == ".json" && n[0] != '.' {
			names = append(names, n)
		}
	}
	foreign = runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0
	return names[:min(len(names), maxFiles)], foreign, nil
}

// merge makes one table of pieces, in their order. A route that is in several of them has an upstream of each, if it agrees in
// everything else; otherwise the first counts.
func merge(pieces map[string]*piece) *Table {
	all := slices.SortedFunc(maps.Values(pieces), func(a, b *piece) int { return strings.Compare(a.order, b.order) })
	if len(all) == 1 && all[0].table != nil {
		return all[0].table
	}
	t := &Table{Routes: map[string]*Route{}, Lines: map[string]int{}}
	of := map[string][]claim{}
	for _, p := range all {
		if p.table == nil {
			continue
		}
		t.Warnings = append(t.Warnings, p.table.Warnings...)
		t.Port = first(t, p, "port", t.Port, p.table.Port)
		t.Tokens = first(t, p, "tokens", t.Tokens, p.table.Tokens)
		t.SessionKey = first(t, p, "sessionKey", t.SessionKey, p.table.SessionKey)
		t.Cluster = first(t, p, "cluster", t.Cluster, p.table.Cluster)
		t.WebSocket = first(t, p, "websocket", t.WebSocket, p.table.WebSocket)
		t.SSE = first(t, p, "sse", t.SSE, p.table.SSE)
		if m := p.table.Merged; t.Merged.zero() {
			t.Merged = m
		} else if !m.zero() && !reflect.DeepEqual(m, t.Merged) {
			t.warn(p, "names of /mcp are ignored: another file says how they are")
		}
		for _, name := range p.table.Names() {
			of[name] = append(of[name], claim{p, p.table.Routes[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if len(t.Routes) == maxRoutes {
			t.warn(of[name][0].p, "routes.%s is one route too many: the maximum is %d", name, maxRoutes)
			break
		}
		t.Routes[name] = t.join(of[name])
	}
	return t
}

// first is a setting of the whole table: the first that is given.
func first[T comparable](t *Table, p *piece, key string, have, more T) T {
	var none T
	switch {
	case have == none:
		return more
	case more != none && more != have:
		t.warn(p, "%s is ignored: it is given before, with another value", key)
	}
	return have
}

func (t *Table) warn(p *piece, format string, args ...any) {
	t.Warnings = append(t.Warnings, Problem{File: p.order[1:], Message: fmt.Sprintf(format, args...)})
}

// load reads a file, of which less may be in a folder that others may write to. A missing one is an fs.ErrNotExist.
func load(path string, foreign bool) (*Table, error) {
	if !foreign {
		return loadFile(path)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // it may lead anywhere
		return nil, fmt.Errorf("%s is not a regular file: the folder is writable by other users", path)
	}
	t, err := loadText(path, maxForeign)
	if err != nil {
		return nil, err
	}
	if err := t.foreign(); err != nil {
		return nil, fmt.Errorf("%s: %w; the folder is writable by other users", path, err)
	}
	return t, nil
}

// foreign is what must not be in a table of whoever may only say where an agent is.
func (t *Table) foreign() error {
	if t.Port != 0 || t.Tokens != "" || t.SessionKey != "" || t.Cluster != "" || t.WebSocket || t.SSE || !t.Merged.zero() {
		return errors.New("only routes are allowed here")
	}
	for _, name := range t.Names() {
		if err := t.Routes[name].foreign(); err != nil {
			return fmt.Errorf("routes.%s: %w", name, err)
		}
	}
	return nil
}

// foreign is what must not be in a route of whoever may only say where an agent is.
func (r *Route) foreign() error {
	switch {
	case r.Command != "":
		return errors.New("a command is not allowed here: it would run with the rights of the router")
	case r.Socket != "":
		return errors.New("the URL of a socket is not allowed here: it would be opened with the rights of the router")
	case r.CA != "":
		return errors.New("ca is not allowed here: it is a file of the router's machine")
	case r.ClientCert != "" || r.ClientKey != "":
		return errors.New("clientCert is not allowed here: it is a file of the router's machine")
	case r.Insecure || r.Proxy != "":
		return errors.New("proxy and insecure are not allowed here: they would change whom the router trusts")
	case r.OAuth != nil:
		return errors.New("oauth is not allowed here: it would use the logins of the router")
	case r.Registered || r.Shared:
		return errors.New("registered and shared are not allowed here: they say which registrations count")
	}
	return nil
}
