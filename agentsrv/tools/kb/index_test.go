package kb

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What a killed process left is removed: not what a process has, nor what somebody else calls alike. Nobody else can read any of it.
func TestWhatKilledProcessesLeft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes, and the variable for the folder")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	scratchIndex := func() *index {
		ix := &index{ownsDB: true}
		require.NoError(t, ix.openScratch())
		require.NoError(t, ix.open(t.Context(), "x"))
		t.Cleanup(func() { assert.NoError(t, ix.close()) })
		return ix
	}
	lives := scratchIndex()
	for path, file := range map[string]string{"mcphud-kb-killed": "index.db.lock", "mcphud-kb-made": "index.db.lock", "mcphud-kb-notes": "todo.txt"} {
		require.NoError(t, os.Mkdir(filepath.Join(tmp, path), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(tmp, path, file), nil, 0o600))
	}
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(tmp, "mcphud-kb-link")))
	for _, dir := range []string{lives.folder, filepath.Join(tmp, "mcphud-kb-killed"), filepath.Join(tmp, "mcphud-kb-notes")} {
		require.NoError(t, os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
	}
	second := scratchIndex()
	var left []string
	all, err := os.ReadDir(tmp)
	require.NoError(t, err)
	for _, e := range all {
		if name := filepath.Join(tmp, e.Name()); name != lives.folder && name != second.folder {
			left = append(left, e.Name())
		}
	}
	if strings.Join(left, " ") != "mcphud-kb-link mcphud-kb-made mcphud-kb-notes" || len(all) != 5 {
		t.Errorf("%d are left: %s", len(all), left)
	}
	files, err := filepath.Glob(filepath.Join(second.folder, "*"))
	require.NoError(t, err)
	for _, f := range append(files, second.folder) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 || len(files) < 2 {
			t.Errorf("%s: %v %v", f, info.Mode(), err)
		}
	}
}

// Only those that were asked for.
func TestEmbeddingsKnown(t *testing.T) {
	c, err := openCache(t.Context(), database(t), "a/", "m")
	require.NoError(t, err)
	require.NoError(t, c.put(t.Context(), []hash{{1}, {2}, {3}}, [][]float32{{1}, {1}, {1}}))
	if have, err := c.existing(t.Context(), []hash{{2}, {4}}); err != nil || len(have) != 1 || !have[hash{2}] {
		t.Errorf("%v %v", have, err)
	}
}
