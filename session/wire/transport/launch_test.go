package transport

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// launch makes a transport to a command of the shell that serves url.
func launch(t *testing.T, url, script string, args ...string) Transport {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	cfg := config.Server{Name: "srv", Launch: true, Command: "/bin/sh", Args: append([]string{"-c", script, "sh"}, args...), URL: url, ConnectTimeout: 20 * time.Second}
	tr, err := New(config.HTTP, cfg, Tap{}, Options{})
	require.NoError(t, err)
	return tr
}

// Who listens at the socket already would be taken for the server, whatever listens at port 80.
func TestASocketThatIsTakenIsNotLaunched(t *testing.T) {
	leakChecked(t)
	dir := t.TempDir()
	socket, started := filepath.Join(dir, "s"), filepath.Join(dir, "started")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	tr := launch(t, "unix://"+socket+":/mcp", `touch "$1"; exec sleep 300`, started)
	t.Cleanup(func() { assert.NoError(t, tr.Close()) })
	err = tr.Start(t.Context(), &received{news: make(chan struct{}, 1)})
	fails(t, err, failure.SpawnFailed, "another program listens at "+socket)
	if _, err := os.Stat(started); err == nil {
		t.Error("the command was started all the same")
	}
}

// slow takes its time over the end, and notes that it has taken it in.
type slow struct {
	received
	begun chan struct{}
	over  atomic.Bool
}

func (s *slow) Lost(error) {
	close(s.begun)
	time.Sleep(200 * time.Millisecond)
	s.over.Store(true)
}

// Nothing is called once Close has returned, also where the command ended by itself just before.
func TestLaunchedIsLostBeforeItIsClosed(t *testing.T) {
	leakChecked(t)
	dir := t.TempDir()
	started, leave := filepath.Join(dir, "started"), filepath.Join(dir, "leave")
	socket := filepath.Join(dir, "s")
	tr := launch(t, "unix://"+socket+":/mcp", `touch "$1"; while [ ! -e "$2" ]; do sleep 0.01; done; exit 3`, started, leave)
	srv := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() {
		for _, err := os.Stat(started); err != nil && t.Context().Err() == nil; _, err = os.Stat(started) {
			time.Sleep(time.Millisecond)
		}
		l, err := net.Listen("unix", socket)
		if err == nil {
			err = srv.Serve(l)
		}
		served <- err
	}()
	in := &slow{received: received{news: make(chan struct{}, 1)}, begun: make(chan struct{})}
	err := tr.Start(t.Context(), in)
	if err == nil {
		require.NoError(t, os.WriteFile(leave, nil, 0o600))
		<-in.begun
	}
	assert.NoError(t, tr.Close())
	assert.NoError(t, srv.Close())
	assert.Equal(t, <-served, http.ErrServerClosed)
	require.NoError(t, err)
	if !in.over.Load() {
		t.Error("Close returned while the receiver was being told of the end")
	}
}
