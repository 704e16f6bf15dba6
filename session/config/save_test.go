package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// inFile makes a file, and reads the names of its servers.
func inFile(t *testing.T, text string) (o config.Options, path string, names func() []string) {
	t.Helper()
	o = config.Options{Cwd: t.TempDir(), Literal: true}
	path = filepath.Join(o.Cwd, "mcp.json")
	o.Files = []string{path}
	overwrite(t, path, text)
	return o, path, func() (all []string) {
		t.Helper()
		set, err := config.Load(o)
		require.NoError(t, err)
		for _, s := range set.Servers {
			all = append(all, s.Name)
		}
		slices.Sort(all)
		return all
	}
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func stdio(name string) config.Server {
	return config.Server{Name: name, Transport: config.Stdio, Command: "run-" + name}
}

// Twelve who add a server to one file at once all find it there, whatever the others wrote.
func TestTwelveWritersAtOnce(t *testing.T) {
	o, path, names := inFile(t, `{"mcpServers": {}}`)
	to, err := o.Destination(path)
	require.NoError(t, err)
	var wg sync.WaitGroup
	var want []string
	for i := range 12 {
		name := fmt.Sprintf("s%02d", i)
		want = append(want, name)
		wg.Go(func() {
			c, err := o.AddEntry(to, stdio(name))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := c.Save(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "run-"+name) || !strings.Contains(string(c.After), "run-"+name) {
				t.Errorf("%s is said to be saved, and is not there: %s %v", name, b, err)
			}
		})
	}
	wg.Wait()
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if copies, err := filepath.Glob(path + ".*.bak"); err != nil || len(copies) != 5 {
		t.Errorf("%d copies: %v %v", len(copies), copies, err)
	}
	if left, err := os.ReadDir(o.Cwd); err != nil || len(left) != 6 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

const twoServers = `{"mcpServers": {"a": {"command": "x", "mine": 1}, "b": {"command": "y"}}, "other": 1}`

// What another program wrote between reading and saving stays, each kind of change is made of it, and what it did to the entry itself
// is not undone.
func TestAnotherProgramWroteTheFile(t *testing.T) {
	src := func(o config.Options, name string) config.Source {
		t.Helper()
		set, err := config.Load(o)
		s, ok := set.Server(name)
		if err != nil || !ok {
			t.Fatal(err, name)
		}
		return s.Source
	}
	for name, c := range map[string]struct {
		plan func(o config.Options, path string) (save func() (string, error), err error)
		want string // servers
	}{
		"add": {func(o config.Options, path string) (func() (string, error), error) {
			to, err := o.Destination(path)
			if err != nil {
				return nil, err
			}
			c, err := o.AddEntry(to, stdio("new"))
			return c.Save, err
		}, "a b foreign new"},
		"edit": {func(o config.Options, _ string) (func() (string, error), error) {
			c, err := o.EditEntry(src(o, "a"), "a", stdio("a"))
			return c.Save, err
		}, "a b foreign"},
		"text": {func(o config.Options, _ string) (func() (string, error), error) {
			c, err := o.EditText(src(o, "a"), "a", []byte(`{"mcpServers": {"c": {"command": "z"}}}`))
			return c.Save, err
		}, "b c foreign"},
		"rename": {func(o config.Options, _ string) (func() (string, error), error) {
			c, err := o.RenameEntry(src(o, "a"), "a", "c")
			return c.Save, err
		}, "b c foreign"},
		"duplicate": {func(o config.Options, _ string) (func() (string, error), error) {
			c, err := o.DuplicateEntry(src(o, "a"), "a", "c")
			return c.Save, err
		}, "a b c foreign"},
		"remove": {func(o config.Options, _ string) (func() (string, error), error) {
			c, err := o.RemoveEntry(src(o, "a"), "a")
			return c.Save, err
		}, "b foreign"},
		"wrap": {func(o config.Options, path string) (func() (string, error), error) {
			p, err := o.FindEntry(path, "a")
			if err == nil {
				p.Prefix("tap", "--")
			}
			return p.Save, err
		}, "a b foreign"},
	} {
		t.Run(name, func(t *testing.T) {
			o, path, names := inFile(t, twoServers)
			save, err := c.plan(o, path)
			require.NoError(t, err)
			overwrite(t, path, strings.Replace(twoServers, `"b"`, `"foreign": {"command": "f"}, "b"`, 1))
			backup, err := save()
			require.NoError(t, err)
			assert.Equal(t, strings.Join(names(), " "), c.want)
			if b, err := os.ReadFile(backup); err != nil || !strings.Contains(string(b), "foreign") {
				t.Errorf("the copy is not what was there: %s %v", b, err)
			}
			if name == "add" {
				return
			}
			o, path, _ = inFile(t, twoServers)
			if save, err = c.plan(o, path); err != nil {
				t.Fatal(err)
			}
			other := strings.Replace(twoServers, `"mine": 1`, `"mine": 2`, 1)
			overwrite(t, path, other)
			var why *config.EditError
			if _, err = save(); !errors.As(err, &why) || !strings.Contains(why.Message, "changed while it was edited") {
				t.Errorf("the entry was changed: %v", err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != other {
				t.Errorf("%s %v", b, err)
			}
			if left, err := os.ReadDir(o.Cwd); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// A name that another program took meanwhile is refused.
func TestTheNameWasTakenMeanwhile(t *testing.T) {
	o, path, names := inFile(t, twoServers)
	to, err := o.Destination(path)
	require.NoError(t, err)
	c, err := o.AddEntry(to, stdio("new"))
	require.NoError(t, err)
	overwrite(t, path, strings.Replace(twoServers, `"b"`, `"new": {"command": "f"}, "b"`, 1))
	if _, err := c.Save(); err == nil || !strings.Contains(err.Error(), "there is a server new already") {
		t.Error(err)
	}
	assert.Equal(t, strings.Join(names(), " "), "a b new")
}

// Five copies are kept, the newest; files of others stay, and what killed programs left is removed when it is old.
func TestCopiesDoNotPileUp(t *testing.T) {
	o, path, _ := inFile(t, twoServers)
	for _, name := range []string{
		"mcp.json.20200101-000000.bak", "mcp.json.20200101-000000-02.bak", "mcp.json.20200102-000000.bak", "mcp.json.mine.bak", "other.json.20200101-000000.bak", "mcp.json.bak",
	} {
		overwrite(t, filepath.Join(o.Cwd, name), "{}")
	}
	old, young := filepath.Join(o.Cwd, ".mcp.json.1234567"), filepath.Join(o.Cwd, ".mcp.json.7654321")
	overwrite(t, old, "half")
	overwrite(t, young, "half")
	past := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(old, past, past))
	to, err := o.Destination(path)
	require.NoError(t, err)
	for i := range 9 {
		c, err := o.AddEntry(to, stdio(fmt.Sprint("s", i)))
		require.NoError(t, err)
		before := content(t, path)
		backup, err := c.Save()
		require.NoError(t, err)
		if content(t, backup) != before {
			t.Errorf("%s is not the file as it was", backup)
		}
	}
	for name, want := range map[string]bool{
		"mcp.json.20200101-000000.bak": false, "mcp.json.20200101-000000-02.bak": false, "mcp.json.20200102-000000.bak": false, "mcp.json.mine.bak": true,
		"other.json.20200101-000000.bak": true, "mcp.json.bak": true, ".mcp.json.1234567": false, ".mcp.json.7654321": true,
	} {
		if _, err := os.Stat(filepath.Join(o.Cwd, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
