package agentsrv

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
)

// A file belongs to one agent: the second one refuses to start and names the first, whose tasks go on; once it is gone the next may.
func TestOneAgentForAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.db")
	first, err := New(Options{Name: "first", Store: file})
	if err != nil {
		t.Fatal(err)
	}
	var taken *store.Taken
	if second, err := New(Options{Name: "second", Store: file}); !errors.As(err, &taken) || !strings.Contains(err.Error(), file+" belongs to the agent first with process id ") {
		t.Errorf("%v", err)
		if err == nil {
			_ = second.Close(t.Context())
		}
	}
	if err := first.Close(t.Context()); err != nil {
		t.Error(err)
	}
	third, err := New(Options{Name: "third", Store: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Agents that make their file when there is something to keep each have one of their own.
func TestAgentsThatKeepLaterHaveFilesOfTheirOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.db")
	keep := func(a *Agent) {
		t.Helper()
		if _, err := a.db.ExecContext(t.Context(), `CREATE TABLE kept (name TEXT)`); err != nil {
			t.Fatal(err)
		}
	}
	var all []*Agent
	for range 3 {
		a, err := New(Options{Store: file, StoreLater: true})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
		if len(all) > 1 { // the first one is in memory until the second has a file
			keep(a)
		}
	}
	keep(all[0])
	for _, a := range all {
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	made, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || len(made) != 3 || filepath.Base(made[0]) != "agent-2.db" || filepath.Base(made[1]) != "agent-3.db" || filepath.Base(made[2]) != "agent.db" {
		t.Errorf("%v %v", made, err)
	}
}
