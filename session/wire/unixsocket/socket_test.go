package unixsocket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// folderOf is a folder whose path is short enough for sockets.
func folderOf(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sock")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "mcphud")
}

func listen(t *testing.T, dir, name string) (*net.UnixListener, string) {
	t.Helper()
	ln, path, err := Listen([]string{dir}, name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln, path
}

func TestSocketIsPrivateAndNobodyElses(t *testing.T) {
	dir := folderOf(t)
	ln, path := listen(t, dir, "manage-8088.sock")
	for p, want := range map[string]os.FileMode{path: 0o600 | os.ModeSocket, dir: 0o700 | os.ModeDir} {
		if fi, err := os.Lstat(p); err != nil || fi.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v; want %v", p, fi.Mode(), err, want)
		}
	}
	if _, _, err := Listen([]string{dir, folderOf(t)}, "manage-8088.sock"); !errors.Is(err, ErrTaken) {
		t.Errorf("the socket of another that lives: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("in the folder: %v %v", files, err)
	}
	go func() {
		if c, err := ln.Accept(); err == nil {
			_ = c.Close()
		}
	}()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	if err := CheckPeer(c); err != nil {
		t.Errorf("our own: %v", err)
	}
	stranger := func(int) (int, error) { return os.Getuid() + 1, nil }
	assert.ErrorContains(t, checkUser(c, stranger, os.Getuid()), fmt.Sprint(os.Getuid()+1))
	broken := func(int) (int, error) { return os.Getuid(), os.ErrInvalid }
	if err := checkUser(c, broken, os.Getuid()); err == nil {
		t.Error("one who cannot be asked is let in")
	}
}

// A socket of a process that died is replaced; those of others stay, whatever their kind and however old.
func TestSocketOfTheDeadIsReplaced(t *testing.T) {
	dir := folderOf(t)
	_, path := listen(t, dir, "manage-8088.sock")
	_, other := listen(t, dir, "more-1.sock")
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, long, long))
	early, dead := filepath.Join(dir, ".1-x"), filepath.Join(dir, "manage-9.sock")
	for _, p := range []string{early, dead} {
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: p, Net: "unix"})
		require.NoError(t, err)
		ln.SetUnlinkOnClose(false)
		_ = ln.Close()
	}
	require.NoError(t, os.Chtimes(early, long, long))
	listen(t, dir, "manage-9.sock")
	if _, err := os.Lstat(early); !os.IsNotExist(err) {
		t.Errorf("one that never got its name is still there: %v", err)
	}
	for _, p := range []string{path, other, dead} {
		if c, err := net.Dial("unix", p); err != nil {
			t.Errorf("%s: %v", p, err)
		} else {
			_ = c.Close()
		}
	}
}

func TestSocketDirs(t *testing.T) {
	run := t.TempDir()
	env := map[string]string{"XDG_RUNTIME_DIR": run}
	if got := dirs(func(k string) string { return env[k] }, 123456); got[0] != filepath.Join(run, "mcphud") || !strings.HasSuffix(got[1], "mcphud-123456") {
		t.Errorf("%v", got)
	}
	env["MCPHUD_TAP_DIR"] = run
	if got := dirs(func(k string) string { return env[k] }, 123456); len(got) != 1 || got[0] != run {
		t.Errorf("%v", got)
	}
	env["MCPHUD_TAP_DIR"] = "relative"
	for _, v := range []string{"", "relative", filepath.Join(run, "missing")} {
		env["XDG_RUNTIME_DIR"] = v
		if got := dirs(func(k string) string { return env[k] }, 123456); !strings.HasSuffix(got[0], "mcphud-123456") {
			t.Errorf("%q: %v", v, got)
		}
	}
}
