package bench

import (
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// Phase is a part of the time that a request takes.
type Phase int

// The phases, in the order in which they come. Those of HTTP: waiting, connection (with its dialling and TLS where a new one was made),
// written, first byte, answer, decode. Those of a pipe: waiting, written, answer, decode.
const (
	Waiting    Phase = iota // from when it was due until somebody was free to send it
	Connection              // until there was a connection for it
	Dial                    // of Connection: TCP
	TLS                     // of Connection: TLS
	Written                 // until the request was written
	FirstByte               // until the first byte of the answer came
	Answer                  // until the whole answer was there
	Decode                  // until it was understood
	phases
)

var phaseNames = [phases]string{"waiting", "connection", "dial", "tls", "written", "first byte", "answer", "decode"}

// String is the phase's name in reports.
func (p Phase) String() string { return phaseNames[p] }

// shot is one request on its way: the times are nanoseconds since the run began, 0 for what did not happen.
type shot struct {
	clock time.Time
	due   int64
	sent  int64 // somebody was free
	done  int64
	// Set by other goroutines, some of them after the request is over: a connection that was dialled for it and is not needed any more.
	asked, got, dial, dialled, tls, secured, written, first, whole atomic.Int64
}

func (s *shot) now() int64 { return int64(time.Since(s.clock)) }

func (s *shot) mark(at *atomic.Int64) { at.Store(s.now()) }

func (s *shot) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:              func(string) { s.mark(&s.asked) },
		GotConn:              func(httptrace.GotConnInfo) { s.mark(&s.got) },
		ConnectStart:         func(_, _ string) { s.mark(&s.dial) },
		ConnectDone:          func(_, _ string, _ error) { s.mark(&s.dialled) },
		TLSHandshakeStart:    func() { s.mark(&s.tls) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { s.mark(&s.secured) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { s.mark(&s.written) },
		GotFirstResponseByte: func() { s.mark(&s.first) },
	}
}

// phases are how long each phase took; -1 for those that there were not.
func (s *shot) phases() (took [phases]int64) {
	for i := range took {
		took[i] = -1
	}
	between := func(p Phase, from, to int64) {
		if from > 0 && to > 0 {
			took[p] = max(to-from, 0)
		}
	}
	got, written, first, whole := s.got.Load(), s.written.Load(), s.first.Load(), s.whole.Load()
	took[Waiting] = max(s.sent-s.due, 0)
	between(Connection, s.asked.Load(), got)
	if dialled := s.dialled.Load(); dialled <= got { // else it was for another request
		between(Dial, s.dial.Load(), dialled)
	}
	if secured := s.secured.Load(); secured <= got {
		between(TLS, s.tls.Load(), secured)
	}
	from := s.sent
	if got > 0 {
		from = got
	}
	between(Written, from, written)
	if written == 0 {
		written = from
	}
	between(FirstByte, written, first)
	if first > 0 {
		between(Answer, first, whole)
	} else {
		between(Answer, written, whole)
	}
	between(Decode, whole, s.done)
	return took
}
