//go:build unix

package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A reader that does not read must not hold up requests, and the log says what it lacks.
func TestR18_ASlowDiskDropsLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip("no named pipes here")
	}
	reader, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer reader.Close()
	l := open(t, Options{File: file})
	h := l.Middleware(func(*flow.Call) {})
	for l.Status().Dropped == 0 {
		h(call("tools/call", strings.Repeat("x", 190)))
	}
	h(call("tools/call", "last")) // is dropped too, or written when there is room
	var read bytes.Buffer
	done := make(chan struct{})
	var mu sync.Mutex
	go func() {
		defer close(done)
		buf := make([]byte, 64<<10)
		for {
			n, err := reader.Read(buf)
			mu.Lock()
			read.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	require.Eventually(t, "the note of what is missing", func() bool {
		h(call("tools/call", "more"))
		mu.Lock()
		defer mu.Unlock()
		return bytes.Contains(read.Bytes(), []byte(`"dropped":`))
	})
	assert.NoError(t, l.Close())
	_ = reader.Close()
	<-done
}
