package tui

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestScratchIsPrivateAndPlain(t *testing.T) {
	for ext, want := range map[string]string{".json": ".json", "": ".txt", "./../../x": ".txt", ".a b": ".txt", ".\x1b[": ".txt"} {
		path, cleanup, err := scratch("secret", cleanExt(ext))
		require.NoError(t, err)
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm() != 0o600 || filepath.Base(path) != "mcphud"+want {
			t.Errorf("scratch(%q) made %s with %v, %v", ext, path, st.Mode(), err)
		}
		cleanup()
		if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
			t.Errorf("the folder of %s is left over", path)
		}
	}
}

// Nothing is written while a key is handled: that belongs to the command.
func TestOpeningWritesNothingBeforeItRuns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	a := &App{getenv: func(string) string { return "true" }}
	cmds := []tea.Cmd{a.editText("view", "tag", "text", ".json"), a.pageText("text", ".txt")}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v is there before %d commands ran, %v", files, len(cmds), err)
	}
}

// A pager gets no byte that a terminal obeys, and no extension that makes it run something.
func TestPagerGetsHarmlessText(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	pager := filepath.Join(t.TempDir(), "pager")
	require.NoError(t, os.WriteFile(pager, []byte("#!/bin/sh\ncat \"$1\" > '"+log+"'; echo \"${1##*/}\" >> '"+log+"'\n"), 0o755))
	for ext, want := range map[string]string{".json": ".json", ".md": ".md", ".txt": ".txt", ".tar": ".txt", ".sh": ".txt", "": ".txt"} {
		c := newPager([]string{pager}, "a\x1b]0;title\x07b\n\u202ec\n", ext)
		require.NoError(t, c.Run())
		if b, err := os.ReadFile(log); err != nil || string(b) != "a^[]0;title^Gb\n<U+202E>c\nmcphud"+want+"\n" {
			t.Errorf("%s: the pager got %q, %v", ext, b, err)
		}
	}
}
