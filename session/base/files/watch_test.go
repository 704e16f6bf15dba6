package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestStamp(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	none := StampOf(file)
	if !none.Equal(StampOf(file)) || none.Equal(Stamp{}) || none.Target() != "" || none.Fresh(time.Now()) {
		t.Errorf("%+v", none)
	}
	write(t, file, "one")
	at := time.Now().Add(-time.Hour)
	old := func(path string) Stamp {
		require.NoError(t, os.Chtimes(path, at, at))
		return StampOf(path)
	}
	first := StampOf(file)
	if !first.Fresh(time.Now()) || first.Equal(none) {
		t.Errorf("%+v", first)
	}
	if s := old(file); s.Equal(first) || s.Fresh(time.Now()) || !s.Equal(StampOf(file)) {
		t.Errorf("%+v", s)
	}
	first = StampOf(file)
	write(t, file, "three")
	if old(file).Equal(first) {
		t.Error("another size is not noticed")
	}
	write(t, file+".new", "one")
	old(file + ".new")
	require.NoError(t, os.Rename(file+".new", file))
	if StampOf(file).Equal(first) {
		t.Error("another file of the same size and time is not noticed")
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no links here: ", err)
	}
	if s := StampOf(link); filepath.Base(s.Target()) != "file" {
		t.Errorf("it leads to %s", s.Target())
	}
}

func receive(t *testing.T, w *Watcher) {
	t.Helper()
	select {
	case <-w.Changed():
	case <-time.After(30 * time.Second):
		t.Fatal("nothing is reported")
	}
}

func TestWatcher(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	w := NewWatcher(time.Hour, time.Millisecond)
	defer w.Close()
	receive(t, w) // the first look
	if w.system == nil {
		t.Skip("the system has no watches left")
	}
	for range 2 { // the same folder comes back
		w.Folder(dir)
		w.Folder(dir)
		write(t, filepath.Join(dir, "file"), "x")
		receive(t, w)
		require.NoError(t, os.RemoveAll(dir))
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			w.mu.Lock()
			n := len(w.folders)
			w.mu.Unlock()
			if n == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatal("a folder that is gone is still watched")
			}
		}
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
}

func TestWatcherPolls(t *testing.T) {
	w := NewWatcher(time.Millisecond, time.Hour)
	defer w.Close()
	for range 3 {
		receive(t, w)
	}
	w.Forget("never watched")
	w.Folder(filepath.Join(t.TempDir(), "not", "there"))
}
