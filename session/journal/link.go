package journal

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
)

// A key finds the request that an answer or a cancellation is about. dir is the request's.
type key struct {
	server string
	conn   uint64
	dir    Dir
	id     string
}

func keyOf(e Entry, dir Dir) key { return key{e.Server, e.Conn, dir, e.ID} }

func (d Dir) other() Dir {
	switch d {
	case Out:
		return In
	case In:
		return Out
	}
	return None
}

const (
	maxMeta = 512     // bytes kept of each string of an entry
	maxScan = 1 << 20 // bodies above this are not searched for names
)

// prepare completes what can be known from the entry alone, outside the lock.
func prepare(e *Entry, body []byte) {
	e.Size = len(body)
	e.Method, e.ID, e.Tool, e.Note = clip(e.Method), clip(e.ID), clip(e.Tool), clip(e.Note)
	switch e.Kind {
	case Request:
		if e.Status == "" {
			e.Status = Pending
		}
		if e.Tool == "" {
			e.Tool = clip(target(e.Method, body))
		}
	case Response:
		switch {
		case e.Status != "":
		case toolFailed(body):
			e.Status, e.Note = Failed, "isError"
		default:
			e.Status = OK
		}
	case ErrorResponse:
		if e.Status == "" {
			e.Status = Failed
		}
	}
}

// toolFailed reports whether an answer says isError: a tool's own failure, which the protocol sends as a result.
func toolFailed(body []byte) bool {
	return len(body) <= maxScan && bytes.Contains(body, []byte(`"isError"`)) && member(body, "result", "isError") == "true"
}

// clip bounds a string and frees the buffer that it is a part of.
func clip(s string) string { return text.Clip(s, maxMeta) }

// link connects r with the request that it ends.
func (j *Journal) link(r *record, body []byte) {
	switch {
	case r.Kind == Request:
		if r.ID != "" {
			j.pending[keyOf(r.Entry, r.Dir)] = r.Seq
		}
	case r.Kind == Response || r.Kind == ErrorResponse:
		k := keyOf(r.Entry, r.Dir.other())
		q := j.store.at(j.pending[k])
		if q == nil {
			return
		}
		delete(j.pending, k)
		r.Peer, q.Peer = q.Seq, r.Seq
		r.Method, r.Tool = q.Method, q.Tool
		r.Took = r.Time.Sub(q.Time)
		if q.Status == Pending {
			q.Status, q.Took = r.Status, r.Took
		}
	case r.Kind == Notification && r.Method == "notifications/cancelled":
		j.end(r, clip(member(body, "params", "requestId")), Cancelled)
	case r.Kind == State && r.ID != "" && r.Status != "":
		j.end(r, r.ID, r.Status)
	}
}

// end marks the request id as over without an answer. It stays known, since an answer may still come.
func (j *Journal) end(r *record, id, status string) {
	k := keyOf(r.Entry, r.Dir)
	k.id = id
	q := j.store.at(j.pending[k])
	if id == "" || q == nil {
		return
	}
	r.Peer, r.Tool = q.Seq, q.Tool
	if q.Status == Pending {
		q.Status, q.Took = status, r.Time.Sub(q.Time)
	}
}

// target returns what a request is about, for filters.
func target(method string, body []byte) string {
	name := ""
	switch method {
	case "tools/call", "prompts/get":
		name = "name"
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		name = "uri"
	default:
		return ""
	}
	raw := member(body, "params", name)
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(s)
}

// member returns the raw value at a path of object keys, "" if there is none.
func member(body []byte, path ...string) string {
	if len(body) > maxScan {
		return ""
	}
	return string(jsonrpc.Get(body, path...))
}
