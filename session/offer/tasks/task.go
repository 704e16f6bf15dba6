// Package tasks is what a client knows of the tasks of a server: calls that go on after they were answered. It has one model for
// the tasks of the revision 2025-11-25 and for those of the extension io.modelcontextprotocol/tasks (SEP-2663).
//
// It only remembers and reads: session makes the requests (tasks/get, tasks/result, tasks/cancel, tasks/list), and puts what comes of
// them into a [Table].
//
// Specification: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
package tasks

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Related is the member of _meta that says which task something belongs to (2025-11-25).
const Related = "io.modelcontextprotocol/related-task"

// Extension is the name of the extension of 2026-07-28, in the capabilities of both sides.
const Extension = "io.modelcontextprotocol/tasks"

// Status is how far a task is, in the words of the specification.
type Status string

// The statuses.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
	// Unknown is not the server's word: it does not know the task, or not any more.
	Unknown Status = "unknown"
)

// Over reports whether the status is final.
func (s Status) Over() bool { return s != Working && s != InputRequired }

// Support is whether a tool may, must or must not run as a task: execution.taskSupport of 2025-11-25.
type Support string

// The values of execution.taskSupport.
const (
	Forbidden Support = "forbidden" // also where nothing is said
	Optional  Support = "optional"
	Required  Support = "required"
)

// Task is one task as the server described it last.
type Task struct {
	ID, Tool string // Tool is "" where another connection started it
	Modern   bool   // of the extension
	Status   Status
	Message  string    // statusMessage
	Created  time.Time // by the server's clock; zero where it did not say
	Updated  time.Time // the same
	TTL      time.Duration
	HasTTL   bool // false: the server keeps it without a limit, or says nothing
	// Interval is how often the server wants to be asked; 0 where it does not say.
	Interval time.Duration
	Raw      json.RawMessage // the description; of a task that is over without its result

	Since    time.Time // when this program first heard of it
	Seen     time.Time // when it last did
	Conn     uint64    // connection that it was started or found on
	Request  uint64    // journal entry of the call that started it, 0 where that was not here
	Problem  error     // why the server was not asked since Seen, or why the task waits; nil if all is well
	Progress Progress
	Waited   bool   // the call that became it is waited for: whoever made it sees its end
	Token    string // progress token of the call that started it
	Trace    string // trace context of the call that started it (traceparent), "" for none: what is asked about it belongs to the call
}

// Progress is what notifications/progress said of a task. Without HasTotal nothing says how much there is to do.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress
type Progress struct {
	Count       int // notifications received
	Done, Total float64
	HasTotal    bool
	Message     string // the latest
}

// Next is the progress after a notification with params.
func (p Progress) Next(params []byte) Progress {
	next := Progress{Count: p.Count + 1, Message: text.Clip(jsonrpc.GetString(params, "message"), maxMessage)}
	next.Done, _ = strconv.ParseFloat(string(jsonrpc.Get(params, "progress")), 64) // 0 where it is not a number
	if total, err := strconv.ParseFloat(string(jsonrpc.Get(params, "total")), 64); err == nil {
		next.Total, next.HasTotal = total, true
	}
	return next
}

const (
	maxID      = 1 << 10 // bytes; longer ids are refused
	maxMessage = 1000
	maxRaw     = 16 << 10

	shortest = 100 * time.Millisecond // between two questions for the status, whatever the server wants
	longest  = 10 * time.Minute       // the same
	first    = 500 * time.Millisecond // where the server says nothing, doubled each time
	last     = 10 * time.Second       // up to this
)

// Summary is the status, and what was said of it last.
func (t Task) Summary() string {
	if m := cmp.Or(t.Progress.Message, t.Message); m != "" {
		return string(t.Status) + ": " + text.FirstLine(m)
	}
	return string(t.Status)
}

// Wait is how long to wait before the server is asked for the nth time since the task's status changed.
func (t Task) Wait(n int) time.Duration {
	if t.Interval > 0 {
		return min(max(t.Interval, shortest), longest)
	}
	return failure.Backoff(n, first, last)
}

// Expires is when the server may forget the task, by this program's clock; false where it has no limit.
func (t Task) Expires() (time.Time, bool) { return t.Since.Add(t.TTL), t.HasTTL }

// Created finds the task in a result that is one instead of what was asked for; nil if it is not.
func Created(result []byte, modern bool) json.RawMessage {
	if modern {
		if jsonrpc.GetString(result, "resultType") == "task" {
			return result
		}
		return nil
	}
	if t := jsonrpc.Get(result, "task"); jsonrpc.GetString(t, "taskId") != "" && jsonrpc.Get(result, "content") == nil {
		return t
	}
	return nil
}

// Parse reads a Task of 2025-11-25, or a DetailedTask of the extension.
func Parse(raw []byte, modern bool) (Task, error) {
	t := Task{Modern: modern}
	ttl, interval := "ttl", "pollInterval"
	if modern {
		ttl, interval = "ttlMs", "pollIntervalMs"
	}
	raw, detail := outline(raw)
	t.Raw = raw
	err := jsonrpc.Members(raw, func(name string, value []byte) bool {
		switch name {
		case "taskId":
			t.ID, _ = jsonrpc.String(value)
		case "status":
			s, _ := jsonrpc.String(value)
			t.Status = Status(s)
		case "statusMessage":
			s, _ := jsonrpc.String(value)
			t.Message = text.Clip(s, maxMessage)
		case "createdAt":
			t.Created = stamp(value)
		case "lastUpdatedAt":
			t.Updated = stamp(value)
		case ttl:
			t.TTL, t.HasTTL = milliseconds(value)
		case interval:
			t.Interval, _ = milliseconds(value)
		}
		return true
	})
	flaw := ""
	switch {
	case err != nil:
		flaw = "is not an object: " + err.Error()
	case t.ID == "":
		flaw = "has no taskId"
	case len(t.ID) > maxID:
		flaw = "has a taskId of " + strconv.Itoa(len(t.ID)) + " bytes"
	case t.Status != Working && t.Status != InputRequired && t.Status != Completed && t.Status != Failed && t.Status != Cancelled:
		flaw = "has the status " + strconv.Quote(text.Clip(string(t.Status), 40)) + ", which does not exist"
	}
	if flaw != "" {
		return t, &failure.Error{Kind: failure.Protocol, Message: "the server's task " + flaw, Detail: text.Clip(detail, 200), Next: "see the answer as it was sent", Remedy: failure.SeeTraffic, Err: err}
	}
	return t, nil
}

// outline is a task without what can be large in it, and its beginning.
func outline(raw []byte) (json.RawMessage, string) {
	begin := text.Clip(string(raw[:min(len(raw), 400)]), 200)
	if len(raw) < maxRaw && jsonrpc.Get(raw, "result") == nil {
		return append(json.RawMessage(nil), raw...), begin
	}
	short, err := jsonrpc.Update(raw, jsonrpc.Delete("result"), jsonrpc.Delete("inputRequests"))
	if err != nil {
		return raw, begin // Parse says what is wrong
	}
	if len(short) > maxRaw {
		if short, err = jsonrpc.Update(short, jsonrpc.Delete("error"), jsonrpc.Delete("_meta"), jsonrpc.Delete("statusMessage")); err != nil || len(short) > maxRaw {
			return json.RawMessage(`{}`), begin
		}
	}
	return short, begin
}

// stamp reads a time of RFC 3339; zero where it is none, for a task is not refused for its date.
func stamp(value []byte) time.Time {
	s, _ := jsonrpc.String(value)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at
}

// milliseconds is a JSON number of them; false for anything else.
func milliseconds(value []byte) (time.Duration, bool) {
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n < 0 {
		return 0, false
	}
	const most = float64(1<<62) / float64(time.Millisecond)
	return time.Duration(min(n, most)) * time.Millisecond, true
}
