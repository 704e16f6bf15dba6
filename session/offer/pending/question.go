package pending

import (
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Kind is what a server asks for.
type Kind string

// The kinds of questions.
const (
	Form     Kind = "form"     // elicitation of values, by a schema
	URL      Kind = "url"      // elicitation by a page that the person opens
	Sampling Kind = "sampling" // a message of a language model
	Other    Kind = "other"    // a method, or a mode of elicitation, that this package does not know
)

// KindOf is the kind of a request by its method and params.
func KindOf(method string, params []byte) Kind {
	switch mcp.MCPMethod(method) {
	case mcp.MethodElicitationCreate:
		switch jsonrpc.GetString(params, "mode") {
		case "", "form":
			return Form
		case "url":
			return URL
		}
	case mcp.MethodSamplingCreateMessage:
		return Sampling
	}
	return Other
}

// Question is one request of a server.
type Question struct {
	ID     uint64 // counted by the queue; none is used twice
	Server string // name of the session
	Title  string // what users know the server by
	Conn   uint64 // number of the connection
	Kind   Kind
	Method string
	Params json.RawMessage // as they came; nil if there are none
	Key    string          // the request's JSON-RPC id as on the wire, or its key in inputRequests
	Cause  Cause
	// Round counts the input_required results of the call, from 1; 0 in the legacy era.
	Round int
	// Earlier is what was asked and answered before in the same call, oldest first.
	Earlier []Exchange
	// StateChanged says that the server's requestState is not the one that it got back in the round before.
	StateChanged bool
	// Required says that the call failed until this page was visited (-32042, 2025-11-25): accept calls again.
	Required bool
	At       time.Time
	Deadline time.Time // when whoever waits gives up; zero if nobody said
}

// Cause is the call that made a server ask.
type Cause struct {
	Method  string    // "" if it is not known
	Target  string    // tool, prompt or URI
	Started time.Time // of the request
}

// Exchange is one question with its answer. Params and Result are nil where they were too large to be kept.
type Exchange struct {
	Method string
	Params json.RawMessage
	Result json.RawMessage
}

// Record is a question that is over.
type Record struct {
	Question
	Result json.RawMessage // what was answered; nil where nothing was
	Fault  *jsonrpc.Error  // what was answered instead of a result
	By     string          // who answered: "you", the name of a rule, or the server's title where it reported its page as visited; "" where nobody did
	Why    string          // why nobody did; "" where somebody did
	Over   time.Time
	// Completed says that the server reported the page of a URL as done (notifications/elicitation/complete).
	Completed bool
}
