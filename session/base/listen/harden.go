package listen

import (
	"io"
	"net/http"
	"time"
)

// Harden sets the limits of an http.Server, which has its handler: on the time that headers may take, on their size, on
// the time that unread bodies may take, and on how long an idle connection is kept. Bodies that a handler reads, and
// responses, have deadlines of their own, since a stream may last.
func Harden(s *http.Server, body time.Duration) {
	s.ReadHeaderTimeout = 10 * time.Second
	s.IdleTimeout = 2 * time.Minute
	s.MaxHeaderBytes = 64 << 10
	s.Handler = inTime(s.Handler, body)
}

// maxUnread is how many bytes are read of a body that the handler does not use.
const maxUnread = 64 << 10

// inTime gives the body of each request that long. The server reads on in what a handler did not read, before it sends
// the answer and after: without a deadline whoever is refused, but announced a body, would keep a connection for ever.
// Who reads the body of a POST sets a deadline of their own, and takes it off.
func inTime(next http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && r.ProtoMajor == 1 {
			rc := http.NewResponseController(w)
			_ = rc.SetReadDeadline(time.Now().Add(limit)) // a connection without deadlines is a test's
			if r.Method != http.MethodPost {
				if _, err := io.CopyN(io.Discard, r.Body, maxUnread); err == io.EOF {
					_ = rc.SetReadDeadline(time.Time{}) // the answer may last
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
