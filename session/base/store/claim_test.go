package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A file belongs to one at a time, and nothing is left of who had it.
func TestClaim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "agent.db")
	release, err := Claim(path, "the agent with process id 7")
	require.NoError(t, err)
	var taken *Taken
	if _, err := Claim(path, "another"); !errors.As(err, &taken) || !strings.Contains(err.Error(), path+" belongs to the agent with process id 7, which is running") {
		t.Error(err)
	}
	other, err := Claim(path+"2", "another")
	require.NoError(t, err)
	assert.NoError(t, errors.Join(release(), other()))
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	require.NoError(t, os.WriteFile(path+".lock", []byte("killed"), 0o600))
	if release, err = Claim(path, "the next"); err != nil {
		t.Fatalf("what a killed process left keeps it: %v", err)
	}
	assert.NoError(t, release())
}

// However many want it and give it back, no two have it at once.
func TestClaimsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	var wg sync.WaitGroup
	var has, had atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 200 {
				release, err := Claim(path, "one of many")
				if err != nil {
					continue
				}
				if had.Add(1); has.Add(1) != 1 {
					t.Error("two have it")
				}
				has.Add(-1)
				assert.NoError(t, release())
			}
		})
	}
	wg.Wait()
	if had.Load() == 0 {
		t.Error("nobody got it")
	}
}
