package rpc

import (
	"encoding/json"
	"time"
)

// Inflight is a request waiting for its answer.
type Inflight struct {
	ID       uint64 // the JSON-RPC id
	Method   string
	Target   string // tool, prompt or uri, "" if the method has none
	Started  time.Time
	Progress Progress
}

// Progress is what a server said about a request so far, see
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress. Values need not be percentages: without Total
// nothing says how much there is.
type Progress struct {
	Count    int     // notifications received
	Progress float64 // the latest value
	Total    float64 // valid if HasTotal
	HasTotal bool
	Message  string // the latest message
}

// Reply is the answer to a request. Where the request failed, Request, Took and Sent are still what they are, for whoever shows the
// failure: a result is there only without an error.
type Reply struct {
	Result            json.RawMessage // exactly as sent; a part of Frame
	Frame             []byte          // the whole response
	Request, Response uint64          // where both are in the journal
	Took              time.Duration   // from sending to the answer
	Cached            time.Time       // when it came, where it is given once more and nothing was sent; else zero

	Traceparent string // the trace context that the request carried, "" for none

	Task    string // id of the task that the call became, "" if it became none
	Ongoing bool   // the task goes on: Result is what created it

	Sent bool // false where the connection was over before
}
