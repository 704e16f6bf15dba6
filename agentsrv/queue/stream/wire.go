package stream

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// message is a call in the stream.
type message struct {
	ID         string          `json:"id"`     // of this attempt to run it
	Origin     string          `json:"origin"` // the replica that it arrived at
	Task       string          `json:"task,omitempty"`
	Tenant     string          `json:"tenant"`
	Tool       string          `json:"tool"`
	Timeout    int64           `json:"timeoutMs,omitempty"`
	Repeatable bool            `json:"repeatable,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Large      bool            `json:"large,omitempty"` // the payload is in the object store
}

func (m *message) job() queue.Job {
	return queue.Job{ID: m.Task, Tenant: m.Tenant, Tool: m.Tool, Timeout: time.Duration(m.Timeout) * time.Millisecond, Repeatable: m.Repeatable, Payload: m.Payload}
}

// kind is what a replica says to another about a call: the first byte.
type kind byte

// To the origin.
const (
	claim    kind = 'C' // may it begin? Answered with yes, no, past or unknown.
	started  kind = 'S'
	frame    kind = 'F' // something that the tool sends: a frame
	waits    kind = 'W' // it begins, or ends, to wait for the client: 1, or 0
	question kind = 'Q'
	hangup   kind = 'H'
	result_  kind = 'R' // answered when it arrived
)

// To whoever runs it.
const (
	stopIt kind = 'X' // end it: a problem
	answer kind = 'A'
	credit kind = 'K' // so many frames were sent on
	probe  kind = '?' // answered by whoever runs the task
)

var (
	yes, no = []byte("y"), []byte("n")
	past    = []byte("d") // the origin has done with the call
	unknown = []byte("u") // it may have let go of it
)

// asked is a question, or the answer to one.
type asked struct {
	ID     int64           `json:"id"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *problem        `json:"error,omitempty"`
}

// outcome is how a call ended.
type outcome struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *problem        `json:"error,omitempty"`
	Large  bool            `json:"large,omitempty"` // the result is in the object store
}

// problem is an error on its way between replicas.
type problem struct {
	Text    string            `json:"text"`
	Kind    jsonrpc.ErrorKind `json:"kind,omitempty"` // of a RequestError
	Data    json.RawMessage   `json:"data,omitempty"`
	Status  int               `json:"status,omitempty"`
	RetryMs int64             `json:"retryMs,omitempty"`
	Code    int64             `json:"code,omitempty"` // of a jsonrpc.Error
}

func problemOf(err error) *problem {
	if err == nil {
		return nil
	}
	if f, ok := jsonrpc.AsRequestError(err); ok {
		p := &problem{Text: f.Message, Kind: f.Kind, Status: f.Status, RetryMs: f.RetryAfter.Milliseconds()}
		if len(f.Data) > 0 {
			p.Data, _ = json.Marshal(f.Data) // what JSON cannot hold would not reach the client either
		}
		return p
	}
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return &problem{Text: e.Message, Code: e.Code, Data: e.Data}
	}
	return &problem{Text: err.Error()}
}

func (p *problem) err() error {
	switch {
	case p == nil:
		return nil
	case p.Kind != "":
		f := jsonrpc.Errorf(p.Kind, "%s", p.Text)
		f.Status, f.RetryAfter = p.Status, time.Duration(p.RetryMs)*time.Millisecond
		if p.Data != nil {
			_ = json.Unmarshal(p.Data, &f.Data) // was made from such a map
		}
		return f
	case p.Code != 0:
		return &jsonrpc.Error{Code: p.Code, Message: p.Text, Data: p.Data}
	}
	return errors.New(p.Text)
}

// appendKind encodes a message: its kind, then its content.
func appendKind(k kind, v any) []byte {
	switch v := v.(type) {
	case nil:
		return []byte{byte(k)}
	case []byte:
		return append([]byte{byte(k)}, v...)
	}
	raw, err := json.Marshal(v)
	if err != nil { // none of ours has what JSON cannot hold, but for results, which are JSON
		raw = []byte("{}")
	}
	return append([]byte{byte(k)}, raw...)
}

func errInterrupted(format string, args ...any) error {
	f := jsonrpc.Errorf(jsonrpc.KindInterrupted, format, args...)
	f.RetryAfter = time.Second
	return f
}
