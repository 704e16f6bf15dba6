package agentsrv

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// shared is a log that several goroutines write and read.
type shared struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *shared) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.all.String(), text)
}

// TestO6_EachReplicaLogsWhatItRuns: of two calls that arrive at one replica, and of which each runs only one at a time, the other one
// runs the second, and says so.
func TestO6_EachReplicaLogsWhatItRuns(t *testing.T) {
	at := natsconn.Options{URL: natstest.Run(t).URL}
	var here, there shared
	_, first := serve(t, Options{Queue: at, Logger: slog.New(slog.NewJSONHandler(&here, nil))})
	serve(t, Options{Queue: at, Logger: slog.New(slog.NewJSONHandler(&there, nil))})
	var all sync.WaitGroup
	c := first["modern"]
	for range 2 {
		all.Go(func() { c.result("tools/call", `{"name":"sleep","arguments":{"seconds":1}}`) })
	}
	all.Wait()
	if here.count(`"MCP tool called"`) != 2 {
		t.Errorf("the origin logs %d calls of 2", here.count(`"MCP tool called"`))
	}
	until(t, "both logs have what their replicas ran", func() bool {
		ran := there.count(`"MCP tool called for another replica","tool":"sleep"`)
		return ran >= 1 && here.count("for another replica") == 0
	})
	assert.Equalf(t, there.count(`"MCP tool called"`), 0, "a replica logs calls as its own that did not arrive there")
}
