package agentsrv

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A file belongs to one agent: the second one refuses to start and names the first, whose tasks go on; once it is gone the next may.
func TestOneAgentForAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.db")
	first, err := New(Options{Name: "first", Store: file})
	require.NoError(t, err)
	var taken *store.Taken
	if second, err := New(Options{Name: "second", Store: file}); !errors.As(err, &taken) || !strings.Contains(err.Error(), file+" belongs to the agent first with process id ") {
		t.Errorf("%v", err)
		if err == nil {
			_ = second.Close(t.Context())
		}
	}
	assert.NoError(t, first.Close(t.Context()))
	third, err := New(Options{Name: "third", Store: file})
	require.NoError(t, err)
	assert.NoError(t, third.Close(t.Context()))
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
		require.NoError(t, err)
		all = append(all, a)
		if len(all) > 1 { // the first one is in memory until the second has a file
			keep(a)
		}
	}
	keep(all[0])
	for _, a := range all {
		assert.NoError(t, a.Close(t.Context()))
	}
	made, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || len(made) != 3 || filepath.Base(made[0]) != "agent-2.db" || filepath.Base(made[1]) != "agent-3.db" || filepath.Base(made[2]) != "agent.db" {
		t.Errorf("%v %v", made, err)
	}
}
