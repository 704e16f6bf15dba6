// Package natstest runs NATS servers with JetStream for tests.
package natstest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/session/test/nettest"
)

const startTime = 30 * time.Second // on a machine with much else to do

// Server is one server in the test's process. It ends with the test.
type Server struct {
	URL string

	t    testing.TB
	o    server.Options
	mu   sync.Mutex
	live *server.Server
}

// Run starts a server that keeps what it has in a temporary folder, on a port that stays its own.
func Run(t testing.TB, change ...func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, o: server.Options{
		Host: "127.0.0.1", Port: nettest.FreePort(t), NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	}}
	for _, f := range change {
		f(&s.o)
	}
	s.URL = "nats://127.0.0.1:" + strconv.Itoa(s.o.Port)
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Kill ends the server; connections break, what it keeps stays on disk.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil {
		s.live.Shutdown()
		s.live.WaitForShutdown()
		s.live = nil
	}
}

// Reload changes the options of the running server, as an operator does who edits its file.
func (s *Server) Reload(change func(*server.Options)) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.o)
	o := s.o
	if err := s.live.ReloadOptions(&o); err != nil {
		s.t.Fatalf("nats-server: %v", err)
	}
}

// Restart starts it again, with what it kept and at the same port.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	o := s.o
	live, err := server.NewServer(&o)
	if err != nil {
		s.t.Fatalf("nats-server: %v", err)
	}
	s.mu.Lock()
	s.live = live
	s.mu.Unlock()
	live.Start()
	if !live.ReadyForConnections(startTime) {
		s.t.Fatal("nats-server: not ready")
	}
}
