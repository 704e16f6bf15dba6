// Package span is one timed step of the work on a request, as telemetry makes it and a journal keeps it, and the names that are known of it.
//
// What a file has of spans is text of other processes: [Parse] takes no more of it than it knows.
package span

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The hops: who recorded an entry. A client's own are those without a hop.
const (
	Router = "router"
	Agent  = "agent"
	Server = "server" // a wrapped server
)

// Names of spans. The steps of a router and an agent are spans of their own, inside of that of the request.
const (
	Forward = "mcp.router.forward" // a request, as a router sees it
	Call    = "mcp.tool.call"      // and an agent

	Auth     = "auth"     // who calls, and whether they may
	Ingress  = "ingress"  // reading and checking the message
	Route    = "route"    // finding the agent, and limits
	Wait     = "wait"     // for the agent: until it listens, for a session, before another try
	Upstream = "upstream" // from the request to the agent to the end of its answer
	Queue    = "queue"    // waiting for a turn
	Run      = "run"      // of the tool

	Task = "task" // what a call was from when it was answered with a task on, to the last answer about that
)

// Attributes that trees show, beside those of the conventions of OpenTelemetry.
const (
	AttrAgent   = "mcp.agent" // to whom a router forwards
	AttrTool    = "mcp.tool.name"
	AttrMethod  = "mcp.method"
	AttrError   = "error.type"
	AttrIn      = "mcp.request.size" // bytes of bodies
	AttrOut     = "mcp.response.size"
	AttrTry     = "mcp.router.try"      // number of an attempt, from 2 on
	AttrProcess = "service.instance.id" // whose clock it is
	AttrTask    = "mcp.task"            // of an agent's span: its call became a task, which goes on (TaskRuns) or is over (TaskOver)
	AttrPolls   = "mcp.task.polls"      // how often a task's status and result were asked for
)

// The values of AttrTask. An agent's span of a call that became a task is recorded when that is answered, and again when it is over.
const (
	TaskRuns = "running"
	TaskOver = "over"
)

// The kinds of spans that OpenTelemetry knows; "" is internal.
const (
	KindClient = "client"
	KindServer = "server"
)

// Span is one timed step of the work on a request.
type Span struct {
	Trace  string // 32 hex digits
	ID     string // 16 hex digits
	Parent string // "" for the first of its trace
	Name   string
	Kind   string
	Start  time.Time
	End    time.Time
	Failed bool
	// Attributes are strings, int64, float64 and bool.
	Attributes map[string]any
}

// wire is a span as it is the body of an entry.
type wire struct {
	Trace      string         `json:"trace"`
	ID         string         `json:"span"`
	Parent     string         `json:"parent,omitempty"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind,omitempty"`
	Start      int64          `json:"start"` // nanoseconds since 1970
	End        int64          `json:"end"`
	Status     string         `json:"status"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

// Limits of what a span may say.
const (
	maxName       = 200
	maxValue      = 300
	maxAttributes = 32
)

// Entry is the span as an entry of a journal: what it has beside Hop, Server and Conn, and its body.
func (s Span) Entry() (journal.Entry, []byte) {
	w := wire{s.Trace, s.ID, s.Parent, s.Name, s.Kind, s.Start.UnixNano(), s.End.UnixNano(), s.Outcome(), s.Attributes}
	body, err := json.Marshal(w)
	if err != nil { // an attribute that is NaN or infinite
		w.Attributes = nil
		body, _ = json.Marshal(w) // strings and whole numbers only
	}
	e := journal.Entry{Kind: journal.Span, Time: s.Start, Took: time.Duration(w.End - w.Start), Method: s.Name, Trace: s.Trace, Status: s.Outcome()}
	e.Tool, _ = s.Attributes[AttrTool].(string)
	return e, body
}

// Outcome is the status of a span as a journal has it.
func (s Span) Outcome() string {
	if s.Failed {
		return journal.Failed
	}
	return journal.OK
}

var errSpan = errors.New("not a span")

// Parse reads the body of an entry of kind Span. What is not an id or a name of a span is an error; one that ends before it
// starts takes no time.
func Parse(body []byte) (Span, error) {
	var w wire
	if err := json.Unmarshal(body, &w); err != nil {
		return Span{}, errSpan
	}
	if !IsTrace(w.Trace) || !isSpan(w.ID) || w.Parent != "" && !isSpan(w.Parent) || w.Name == "" {
		return Span{}, errSpan
	}
	s := Span{
		Trace: w.Trace, ID: w.ID, Parent: w.Parent, Name: text.Clip(w.Name, maxName), Kind: w.Kind, Failed: w.Status == journal.Failed,
		Start: time.Unix(0, w.Start), End: time.Unix(0, max(w.Start, w.End)), Attributes: map[string]any{},
	}
	if s.Kind != KindClient && s.Kind != KindServer {
		s.Kind = ""
	}
	for _, k := range slices.Sorted(maps.Keys(w.Attributes)) {
		if len(s.Attributes) == maxAttributes {
			break
		}
		switch v := w.Attributes[k].(type) {
		case string:
			s.Attributes[text.Clip(k, maxName)] = text.Clip(v, maxValue)
		case float64:
			if n := int64(v); float64(n) == v {
				s.Attributes[text.Clip(k, maxName)] = n
			} else {
				s.Attributes[text.Clip(k, maxName)] = v
			}
		case bool:
			s.Attributes[text.Clip(k, maxName)] = v
		}
	}
	return s, nil
}

// IsTrace reports whether s is the id of a trace.
func IsTrace(s string) bool { return isHex(s, 32) }

// Named reports whether a trace is the one that somebody names by the beginning or the end of its id: those of one program begin alike.
func Named(id, by string) bool { return strings.HasPrefix(id, by) || strings.HasSuffix(id, by) }

func isSpan(s string) bool { return isHex(s, 16) }

// isHex reports whether s is n lower-case hex digits that are not all 0.
func isHex(s string, n int) bool {
	if len(s) != n || strings.Trim(s, "0") == "" || strings.ToLower(s) != s {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// ParseParent splits a traceparent (https://www.w3.org/TR/trace-context): the trace, the span that the request is made in, and
// whether it is recorded. ok is false for what is not one.
func ParseParent(header string) (trace, span string, sampled, ok bool) {
	part := strings.SplitN(header, "-", 5)
	if len(part) < 4 || len(part[0]) != 2 || part[0] == "ff" || part[0] == "00" && len(part) > 4 || !IsTrace(part[1]) || !isSpan(part[2]) {
		return "", "", false, false
	}
	flags, err := hex.DecodeString(part[3])
	if err != nil || len(flags) != 1 {
		return "", "", false, false
	}
	return part[1], part[2], flags[0]&1 != 0, true
}
