package aggregate

import (
	"bytes"
	"errors"

	"github.com/mcphud/mcphud/session/serve/outbox"
)

const (
	maxMail  = 1024
	maxBytes = 1 << 20      // of one message that belongs to no request
	maxTotal = 4 * maxBytes // of those that wait
)

var errClosed = errors.New("stream ended")

// mailbox holds messages for a stream; the oldest are dropped.
type mailbox struct{ *outbox.Queue[[]byte] }

func newMailbox() mailbox {
	return mailbox{outbox.New(outbox.Options[[]byte]{
		MaxMessages: maxMail, MaxBytes: maxTotal - maxBytes, // beside the one that is added
		Size: func(frame []byte) int { return len(frame) },
	})}
}

// put adds a message, but not one that is too large or repeats what waits already.
func (m mailbox) put(frame []byte) {
	if len(frame) <= maxBytes && !(announcesChange(frame) && m.Any(func(have []byte) bool { return bytes.Equal(have, frame) })) {
		m.Put(frame)
	}
}

// announcesChange reports that a message announces a change, which need not be repeated.
func announcesChange(frame []byte) bool {
	return len(frame) < 1<<10 && bytes.Contains(frame, []byte("changed"))
}

func (m mailbox) close() { m.Fail(errClosed) }
