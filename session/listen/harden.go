package listen

import (
	"net/http"
	"time"
)

// Harden sets the limits of an http.Server: on the time that headers may take, on their size, and on
// how long an idle connection is kept. Bodies and answers have deadlines of their own, since a stream may last.
func Harden(s *http.Server) {
	s.ReadHeaderTimeout = 10 * time.Second
	s.IdleTimeout = 2 * time.Minute
	s.MaxHeaderBytes = 64 << 10
}
