package routes

import (
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// said is a log.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) has(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), what)
}

// Who reads in the log that routes were loaded finds them in force: the log says so after whoever serves them has them.
func TestRoutesAreInForceWhenTheLogSaysSo(t *testing.T) {
	var log said
	early := make(chan bool, 1)
	path := filepath.Join(t.TempDir(), "routing.json")
	put(t, path, `{"routes":{}}`)
	w, err := Watch(Options{
		Path: path, Poll: 5 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Changed: func(t *Table, _ error) {
			if len(t.Routes) == 1 {
				early <- log.has("routes loaded")
			}
		},
	})
	require.NoError(t, err)
	put(t, path, `{"routes":{"a":{"hostPort":1}}}`)
	if <-early {
		t.Error("the log says that routes were loaded which are not in force")
	}
	w.Close() // after what is under way
	if !log.has("routes loaded") || !log.has("routes=1") {
		t.Error("the log does not say that routes were loaded")
	}
}
