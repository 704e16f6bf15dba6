package kept

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// sockets is a folder of sessions, at a path that is short enough for one.
func sockets(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kept")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("MCPHUD_TAP_DIR", dir)
	return dir
}

// serve keeps a session that answers as it is told.
func serve(t *testing.T, dir, name string, h http.HandlerFunc) {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(dir, Socket(name)))
	require.NoError(t, err)
	web := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(ln) }()
	t.Cleanup(func() { _ = web.Close(); <-done })
}

func TestNamesOfSockets(t *testing.T) {
	for _, name := range []string{"shop", "a-b.c_d", "1"} {
		assert.Equal(t, nameOf(Socket(name)), name)
	}
	for _, file := range []string{"tap-1-a.sock", "kept.sock", "kept.a b.sock", "kept.shop", "shop.sock", "kept...sock"} {
		assert.Equal(t, nameOf(file), "")
	}
	assert.Equal(t, SessionOf(ID("a-b", 12)), "a-b")
	assert.Equal(t, SessionOf("shop"), "")
}

// Sessions are found by their sockets. One whose process is gone is none, and one that says nonsense is an error.
func TestFindsSessions(t *testing.T) {
	dir := sockets(t)
	_, err := Server(t.Context(), "shop")
	assert.ErrorIs(t, err, ErrNone)
	serve(t, dir, "shop", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case PathStatus:
			_, _ = w.Write([]byte(`{"name":"shop","state":"Connected","socket":"/s/kept.shop.sock"}`))
		default:
			http.NotFound(w, r)
		}
	})
	serve(t, dir, "over", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"over","ended":true,"error":"killed"}`))
	})
	serve(t, dir, "mad", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`nonsense`)) })
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, Socket("dead")), Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	s, err := Server(t.Context(), "shop")
	require.NoError(t, err)
	assert.Equal(t, s.URL, "http+unix://%2Fs%2Fkept.shop.sock/mcp")
	for name, want := range map[string]error{"dead": ErrNone, "over": ErrEnded} {
		if _, err := Server(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = Server(t.Context(), "mad")
	assert.ErrorContains(t, err, "is not understood")
	_, _, _, err = Take(t.Context(), "shop-1")
	assert.ErrorIs(t, err, ErrNotWaiting)
	for _, id := range []string{"shop-1/../../status", "shop-1?x", "shop-%2e"} { // stays below the calls
		_, _, _, err = Take(t.Context(), id)
		assert.ErrorIs(t, err, ErrNotWaiting)
	}
	_, err = StatusOf(t.Context(), "../"+filepath.Base(dir)+"/kept.shop")
	assert.ErrorIs(t, err, ErrNone)
	if all := List(t.Context()); len(all) != 2 || all[0].Name != "over" || all[1].Name != "shop" {
		t.Errorf("%+v", all)
	}
}

// A folder that others could put sockets into is shut before it is looked at, and where a link leads is not.
func TestFolderOfOthers(t *testing.T) {
	dir := sockets(t)
	serve(t, dir, "shop", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err := StatusOf(t.Context(), "shop")
	require.NoError(t, err)
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, fi.Mode().Perm(), 0o700)
	link := dir + ".link"
	require.NoError(t, os.Symlink(dir, link))
	t.Cleanup(func() { _ = os.Remove(link) })
	t.Setenv("MCPHUD_TAP_DIR", link)
	if _, err := StatusOf(t.Context(), "shop"); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("it is asked: %v", err)
	}
	if names := Names(); len(names) > 0 {
		t.Errorf("%q", names)
	}
}
