package front

import (
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// keptStreams is how many finished streams of one session are kept for a client that missed their end.
const keptStreams = 8

// streams are the resumable streams of a session. They are guarded by the session's mutex.
//
// An event's id is the stream's number, a hyphen, and the event's number in it; the general stream is 0. It says nothing about the session: whoever
// resumes names that as well.
type streams struct {
	general *stream   // nil before somebody opens it, or sends on it
	posts   []*stream // those that have a number, oldest first
	last    int64     // the latest number
}

// primes reports whether clients of this version expect a first event that only has an id.
func primes(version string) bool { return version >= mcp.ProtocolVersion20251125 }

// generalStream is the stream that a GET without Last-Event-ID opens.
func (s *Session) generalStream() *stream {
	version := s.ProtocolVersion()
	s.mux.Lock()
	defer s.mux.Unlock()
	if s.streams.general == nil {
		st := newStream(true, false)
		st.general, st.session, st.total, st.holder, st.discard, st.prime = true, s, &s.srv.kept, 0, s.over, primes(version)
		s.streams.general = st
	}
	return s.streams.general
}

// enroll gives a stream the number by which it can be resumed.
func (s *Session) enroll(st *stream) {
	s.mux.Lock()
	defer s.mux.Unlock()
	s.streams.last++
	st.id = s.streams.last
	s.streams.posts = append(s.streams.posts, st)
}

// forget drops finished streams beyond those that are kept.
func (s *Session) forget() {
	var drop []*stream
	s.mux.Lock()
	if n := len(s.streams.posts) - keptStreams; n > 0 {
		kept := s.streams.posts[:0]
		for _, st := range s.streams.posts {
			if len(drop) < n && st.settled.Load() {
				drop = append(drop, st)
				continue
			}
			kept = append(kept, st)
		}
		clear(s.streams.posts[len(kept):])
		s.streams.posts = kept
	}
	s.mux.Unlock()
	for _, st := range drop {
		st.drop()
	}
}

// closeStreams ends all streams for good, with the session.
func (s *Session) closeStreams() {
	s.mux.Lock()
	all := s.streams.posts
	if s.streams.general != nil {
		all = append(all, s.streams.general)
	}
	s.streams.posts = nil
	s.mux.Unlock()
	for _, st := range all {
		st.drop()
	}
}

// resume finds the stream and the position that an event id names.
func (s *Session) resume(eventID string) (st *stream, seq int64, ok bool) {
	a, b, ok := strings.Cut(eventID, "-")
	id, err1 := strconv.ParseInt(a, 10, 64)
	seq, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || seq < 0 {
		return nil, 0, false
	}
	if id == 0 {
		return s.generalStream(), seq, true
	}
	s.mux.Lock()
	defer s.mux.Unlock()
	for _, st := range s.streams.posts {
		if st.id == id {
			return st, seq, true
		}
	}
	return nil, 0, false
}
