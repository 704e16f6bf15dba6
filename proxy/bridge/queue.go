package bridge

import (
	"errors"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/outbox"
)

const (
	maxWaiting      = 1024    // so many messages, or
	maxWaitingBytes = 4 << 20 // so many bytes may wait for one reader
	// stall is how long a reader may hold up the process that serves it alone.
	stall = 30 * time.Second
)

var (
	errLeft     = errors.New("nobody waits for this answer")
	errReplaced = errors.New("stream ended") // which is not a failure
)

// message is one message for a client, in pieces.
type message struct {
	pieces [][]byte
	final  bool             // the answer
	env    jsonrpc.Envelope // of the answer, as the process wrote it
	status int              // of the response that consists of it
}

func (m message) size() (n int) {
	for _, p := range m.pieces {
		n += len(p)
	}
	return n
}

// queue holds what is to be sent to one client on one stream.
type queue = outbox.Queue[message]

// newQueue makes a queue whose writers wait for a slow reader if blocking is set; else the oldest messages are dropped.
func newQueue(blocking bool) *queue {
	o := outbox.Options[message]{
		MaxMessages: maxWaiting, MaxBytes: maxWaitingBytes, Size: message.size, Last: func(m message) bool { return m.final },
	}
	if blocking {
		o.Stall = stall
	}
	return outbox.New(o)
}
