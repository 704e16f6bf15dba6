//go:build unix

package files

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestT9_NothingBlocks(t *testing.T) {
	f, root := tree(t)
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	l, err := net.Listen("unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Skip(err) // the path is too long for a socket here
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"fifo", "socket"} {
			if r := f.call(t, "read_file", map[string]string{"path": name}); !r.IsError {
				t.Errorf("%s was read: %s", name, said(r))
			}
			if r := f.call(t, "list_dir", map[string]string{"path": name}); !r.IsError {
				t.Errorf("%s was listed", name)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a writer")
	}
	listing, err := f.List(".", "")
	require.NoError(t, err)
	others := 0
	for _, e := range listing.Entries {
		if e.Type == "other" {
			others++
		}
	}
	if others != 2 {
		t.Errorf("%+v", listing)
	}
}
