package task

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// state is how far a task is; these are the words of the HTTP pages.
type state string

const (
	pending       state = "pending" // in the queue
	running       state = "running"
	inputRequired state = "input_required"
	completed     state = "completed"
	failed        state = "failed"
	cancelled     state = "cancelled"
)

// isTerminal reports whether a state is an end: no other one follows.
func (s state) isTerminal() bool { return s == completed || s == failed || s == cancelled }

// owner is whose task it is: of the token that it was called with ("" for none), of the tenant that was named, and of the session by its short name.
type owner struct {
	Principal, Tenant, Session string
}

// ownerOf is who calls.
func ownerOf(ctx context.Context) owner {
	c := kit.Caller(ctx)
	return owner{c.Principal, kit.TenantOf(ctx), c.Session}
}

// sees reports whether the caller of ctx may know of the task. Without authentication the id is the secret; a caller
// that belongs to a tenant, or names one, sees that tenant's tasks only.
func (o owner) sees(ctx context.Context) bool {
	c := kit.Caller(ctx)
	tenant := kit.TenantOf(ctx)
	return c.Principal == o.Principal && (c.Tenant == "" || c.Tenant == o.Tenant) && (tenant == kit.DefaultTenant || tenant == o.Tenant)
}

// record is what is known of a task at one moment.
type record struct {
	ID, Tool         string
	Owner            owner
	Created, Updated time.Time
	Expires          time.Time
	Modern           bool   // called by the rules of 2026-07-28
	Origin           string // the replica that took the call
	State            state
	Message          string
	ToolError        bool                       // the result says isError
	Result           json.RawMessage            // of the call, nil unless it has one
	Error            *jsonrpc.Error             // instead of a result
	Inputs           map[string]json.RawMessage // questions of a modern task that wait for an answer
	Log              []byte
}

// size is what the end of the task takes up.
func (r *record) size() int64 {
	n := int64(len(r.Result) + len(r.Log))
	if r.Error != nil {
		n += int64(len(r.Error.Message) + len(r.Error.Data))
	}
	return n
}

// copyEnd copies how the task ended from another record of it.
func (r *record) copyEnd(end *record) {
	r.State, r.Message, r.Updated = end.State, end.Message, end.Updated
	r.Result, r.Error, r.ToolError, r.Inputs = end.Result, end.Error, end.ToolError, nil
}

const stamp = "2006-01-02T15:04:05.000Z07:00" // RFC 3339

// legacy is Task of 2025-11-25.
func (r *record) legacy(poll time.Duration) map[string]any {
	status := r.State
	switch {
	case status == pending, status == running:
		status = "working"
	case status == completed && r.ToolError:
		status = failed
	}
	return r.common(status, "ttl", "pollInterval", poll)
}

// modern is Task of the extension.
func (r *record) modern(poll time.Duration) map[string]any {
	status := r.State
	if status == pending || status == running {
		status = "working"
	}
	return r.common(status, "ttlMs", "pollIntervalMs", poll)
}

// detailedTask is DetailedTask of the extension.
func (r *record) detailedTask(poll time.Duration) map[string]any {
	m := r.modern(poll)
	switch {
	case r.State == inputRequired:
		m["inputRequests"] = r.Inputs
	case r.Result != nil:
		m["result"] = r.Result
	case r.Error != nil:
		m["error"] = r.Error
	}
	m["resultType"] = "complete"
	return m
}

// page is what GET /tasks/{id} shows.
func (r *record) page(poll time.Duration) map[string]any {
	status := r.State
	if status == inputRequired {
		status = running
	}
	m := r.common(status, "ttl", "pollInterval", poll)
	m["tool"] = r.Tool
	if r.Result != nil {
		m["result"] = r.Result
	}
	if r.Error != nil {
		m["error"] = r.Error
	}
	m["log"] = string(r.Log)
	return m
}

// common has what all forms of a task have; ttl and interval are what they call these members, both in milliseconds and never 0.
func (r *record) common(status state, ttl, interval string, poll time.Duration) map[string]any {
	m := map[string]any{
		"taskId": r.ID, "status": status, "createdAt": r.Created.UTC().Format(stamp), "lastUpdatedAt": r.Updated.UTC().Format(stamp),
		ttl: max(r.Expires.Sub(r.Created).Milliseconds(), 1), interval: max(poll.Milliseconds(), 1),
	}
	if r.Message != "" {
		m["statusMessage"] = r.Message
	}
	return m
}

// logTail is the end of a log that grows.
type logTail struct{ b []byte }

// tailMax is how many bytes of a task's log are kept, the last ones.
const tailMax = 128 << 10

// add appends a line. Up to twice as much as is kept is held, so that not every line is copied.
func (t *logTail) add(line []byte) {
	t.b = append(append(t.b, line...), '\n')
	if len(t.b) > 2*tailMax {
		t.b = slices.Clone(t.bytes())
	}
}

// bytes is what is kept; it may begin within a line. It is a part of the log, to be copied before more is added.
func (t *logTail) bytes() []byte {
	b := t.b
	if len(b) > tailMax {
		b = b[len(b)-tailMax:]
		for len(b) > 0 && b[0]&0xC0 == 0x80 { // half a character
			b = b[1:]
		}
	}
	return b
}
