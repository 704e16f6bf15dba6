package inspector

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
)

// list is a file of servers, with the values that are kept of it.
type list struct {
	*testing.T
	file string
	kept credstore.Inputs
}

func newList(t *testing.T, text string) *list {
	t.Helper()
	dir := t.TempDir()
	l := &list{t, filepath.Join(dir, "mcp.json"), credstore.Inputs{Store: credstore.Open(credstore.File, dir)}}
	l.write(text)
	return l
}

func (l *list) write(text string) {
	l.Helper()
	if err := os.WriteFile(l.file, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// run changes the list by a command line.
func (l *list) run(args ...string) error {
	l.Helper()
	r, err := Parse(append([]string{"--catalog", l.file, "--method"}, args...))
	if err != nil {
		l.Fatal(err)
	}
	_, err = r.Written(l.Context(), l.kept)
	return err
}

func (l *list) ok(args ...string) {
	l.Helper()
	if err := l.run(args...); err != nil {
		l.Fatalf("%q: %v", args, err)
	}
}

// opens checks which environment an entry is started with, and that the file has none of its values.
func (l *list) opens(name string, want map[string]string) {
	l.Helper()
	r, err := Parse([]string{"--catalog", l.file, "--server", name, "--method", "tools/list"})
	if err != nil {
		l.Fatal(err)
	}
	sel, err := r.Selected(l.Context(), l.kept)
	if err != nil || !maps.Equal(sel.Server.Env, want) {
		l.Errorf("%s is started with %v, %v; want %v", name, sel.Server.Env, err, want)
	}
	b, err := os.ReadFile(l.file)
	if err != nil {
		l.Fatal(err)
	}
	for k, v := range want {
		if v != "" && strings.Contains(string(b), v) {
			l.Errorf("the file has the value of %s: %s", k, b)
		}
	}
}

// holds checks what is kept of an entry, whether the file has it or not.
func (l *list) holds(name string, want map[string]string) {
	l.Helper()
	if got, err := l.kept.Recall(l.Context(), scope(l.file, name)); err != nil || !maps.Equal(got, want) {
		l.Errorf("kept of %s: %v, %v; want %v", name, got, err, want)
	}
}

// Values of -e are kept beside the file through all that can become of an entry.
func TestValuesFollowTheirEntry(t *testing.T) {
	l := newList(t, `{"mcpServers": {}}`)
	l.ok("servers/add", "--server", "a", "-e", "K=one", "-e", "L=two", "--", "run")
	l.opens("a", map[string]string{"K": "one", "L": "two"})
	l.ok("servers/edit", "--server", "a", "-e", "K=three")
	l.opens("a", map[string]string{"K": "three", "L": "two"})
	l.ok("servers/edit", "--server", "a", "--cwd", "/")
	l.opens("a", map[string]string{"K": "three", "L": "two"})
	l.ok("servers/edit", "--server", "a", "--rename", "b", "-e", "M=four")
	l.opens("b", map[string]string{"K": "three", "L": "two", "M": "four"})
	l.holds("a", nil)
	l.ok("servers/edit", "--server", "b", "--rename", "c")
	l.opens("c", map[string]string{"K": "three", "L": "two", "M": "four"})
	l.holds("b", nil)
	l.ok("servers/edit", "--server", "c", "-e", "L=five", "--", "other")
	l.opens("c", map[string]string{"L": "five"})
	l.holds("c", map[string]string{"L": "five"})
	l.ok("servers/edit", "--server", "c", "another")
	l.opens("c", nil)
	l.holds("c", nil)
	l.ok("servers/edit", "--server", "c", "-e", "K=six")
	l.ok("servers/remove", "--server", "c")
	l.holds("c", nil)
}

// What the file says comes before what is kept, and becomes part of it with the next -e. An entry of the same name in another file,
// or one that is added after an entry was taken out by hand, gets nothing.
func TestValuesBelongToOneEntry(t *testing.T) {
	const entry = `{"mcpServers": {"a": {"command": "run", "env": {"K": "", "L": ""}}}}`
	l := newList(t, entry)
	l.ok("servers/edit", "--server", "a", "-e", "K=one", "-e", "L=two")
	l.write(strings.Replace(entry, `"K": ""`, `"K": "hand"`, 1))
	if r, err := Parse([]string{"--config", l.file, "--method", "tools/list"}); err != nil {
		t.Fatal(err)
	} else if sel, err := r.Selected(t.Context(), l.kept); err != nil || !maps.Equal(sel.Server.Env, map[string]string{"K": "hand", "L": "two"}) {
		t.Errorf("started with %v, %v", sel.Server.Env, err)
	}
	l.ok("servers/edit", "--server", "a", "-e", "L=three")
	l.opens("a", map[string]string{"K": "hand", "L": "three"})
	other := newList(t, entry)
	other.kept = l.kept
	other.opens("a", map[string]string{"K": "", "L": ""})
	l.write(`{"mcpServers": {}}`)
	l.ok("servers/add", "--server", "a", "-e", "L=four", "--", "run")
	l.holds("a", map[string]string{"L": "four"})
}

// unwilling is a store that keeps one value less than it is given.
type unwilling struct {
	auth.Store
	auth.Locker
	left int
}

func (u *unwilling) Put(ctx context.Context, c auth.Credentials) error {
	if u.left--; u.left < 0 {
		return errors.New("full")
	}
	return u.Store.Put(ctx, c)
}

// Where the file cannot be written, or a value not be kept, everything is as it was.
func TestFailedChangesKeepNothing(t *testing.T) {
	l := newList(t, `{"mcpServers": {}}`)
	l.ok("servers/add", "--server", "a", "-e", "K=one", "--", "run")
	was, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	same := func(args []string, err error) {
		t.Helper()
		if got, bad := os.ReadFile(l.file); err == nil || bad != nil || string(got) != string(was) {
			t.Errorf("%q: %v; %s, %v", args, err, got, bad)
		}
		l.holds("a", map[string]string{"K": "one"})
		l.holds("b", nil)
	}
	changes := [][]string{
		{"servers/add", "--server", "b", "-e", "K=two", "-e", "L=two", "--", "run"},
		{"servers/edit", "--server", "a", "-e", "L=two", "-e", "M=two"},
		{"servers/edit", "--server", "a", "--rename", "b", "-e", "L=two"},
	}
	store := l.kept.Store
	for _, args := range changes {
		l.kept.Store = &unwilling{Store: store, left: 1}
		err := l.run(args...)
		l.kept.Store = store
		same(args, err)
	}
	if err := os.Chmod(l.file, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, args := range append(changes, []string{"servers/remove", "--server", "a"}, []string{"servers/edit", "--server", "a", "other"}) {
		same(args, l.run(args...))
	}
}

// What is to be saved is not given to a store that ends with the program; the rest needs no store.
func TestValuesNeedAStore(t *testing.T) {
	l := newList(t, `{"mcpServers": {"a": {"command": "run", "env": {"K": ""}}}}`)
	l.kept.Store = auth.NewMemory()
	for _, args := range [][]string{{"servers/add", "--server", "b", "-e", "K=v", "--", "run"}, {"servers/edit", "--server", "a", "-e", "K=v"}, {"servers/edit", "--server", "a", "--rename", "b"}} {
		if err := l.run(args...); err == nil || !strings.Contains(err.Error(), "MCPHUD_CREDENTIALS") {
			t.Errorf("%q: %v", args, err)
		}
	}
	l.ok("servers/edit", "--server", "a", "--cwd", "/")
	l.opens("a", map[string]string{"K": ""})
}
