package pane

import (
	"context"

	"github.com/mcphud/mcphud/session/traffic/calls"
)

// Again asks the screen "again" to send something once more, or the screen "edit" to change it first. What it is, is either an entry of
// the journal or a request of its own.
type Again struct {
	// Seq is any journal entry of the exchange; 0 where Request is given.
	Seq     uint64
	Request *calls.Request
	// Before is the answer to compare with; nil for the one that is in the journal.
	Before *calls.Answer
	// Load reads Request, Before and After where they are neither in the journal nor at hand. It runs beside the event loop.
	Load func(context.Context) (Again, error)
	// After is compared with Before, and nothing is sent; nil where it is sent.
	After *calls.Answer
	// Earlier compares the exchange with the one before it that asked for the same, and sends nothing.
	Earlier bool
	// Asked is the request whose answer is Before, where it may have been another one; nil for the same.
	Asked *calls.Request
	// Choose asks first where to send it.
	Choose bool
}
