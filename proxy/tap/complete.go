package tap

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// full is an entry with its body, as it is sent to readers.
type full struct {
	journal.Entry
	body []byte
}

// maxBatch is how many messages of one batch become entries of their own.
const maxBatch = 256

// complete turns a record into entries, with secrets masked. It does not change the record's body.
func complete(rec *record) (out []full) {
	if rec.spans != nil {
		defer func() { out = append(out, spans(rec)...) }()
		if rec.size == 0 && rec.entry.Kind == 0 {
			return nil
		}
	}
	if !rec.sse {
		return entries(rec, rec.body, rec.size > len(rec.body))
	}
	// The data of a truncated event is incomplete. An event without data is a heartbeat.
	r := sse.NewReader(bytes.NewReader(rec.body), MaxBody, MaxBody)
	for {
		ev, err := r.Next()
		if ev.Name == "endpoint" && len(ev.Data) > 0 { // HTTP+SSE: where the client sends its messages, with the session's id in it
			e := rec.entry
			e.Kind, e.Time, e.Note = journal.HTTP, rec.time, "endpoint"
			out = append(out, finish(e, ev.Data, err != nil))
		} else if len(ev.Data) > 0 {
			out = append(out, entries(rec, ev.Data, err != nil)...)
		}
		if err != nil {
			return out
		}
	}
}

// entries is complete for one body.
func entries(rec *record, body []byte, cut bool) []full {
	e := rec.entry
	e.Time = rec.time
	if e.Kind != 0 {
		if cut {
			e.Note = note(e.Note, clippedNote(rec))
		}
		return []full{finish(e, body, cut)}
	}
	first := bytes.TrimLeft(body, " \t\r\n")
	if !cut && len(first) > 0 && first[0] == '[' && jsonrpc.Valid(first) == nil {
		return batch(e, first, rec.answer)
	}
	before := e
	if e = Classify(e, body, nil, cut, rec.answer); e.Kind == journal.Bad && rec.failed != "" {
		e = before
		e.Kind, e.Note = journal.HTTP, refusal+rec.failed
	}
	if cut {
		e.Note = note(e.Note, clippedNote(rec))
	}
	return []full{finish(e, body, cut)}
}

// refusal begins the note of the body of an HTTP error, which says that it is not a head.
const refusal = "body of "

func clippedNote(rec *record) string {
	why := ""
	if len(rec.body) == idleBody {
		why = "; nobody was watching"
	}
	return fmt.Sprintf("the first %d of %d bytes%s", len(rec.body), rec.size, why)
}

func note(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// finish masks secrets. A truncated frame cannot be parsed, and stays as it is.
func finish(e journal.Entry, body []byte, cut bool) full {
	if cut && e.Kind <= journal.Notification {
		e, _ = journal.Masked(e, nil)
		return full{e, body}
	}
	e, body = journal.Masked(e, body)
	return full{e, body}
}

// batch makes an entry of each message of an array, as revision 2025-03-26 allows.
func batch(e journal.Entry, array []byte, answer string) (out []full) {
	_ = jsonrpc.Elements(array, func(one []byte) bool { // it is valid
		out = append(out, finish(Classify(e, one, nil, false, answer), one, false))
		return len(out) < maxBatch
	})
	return out
}

var idAtEnd = regexp.MustCompile(`"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// Classify fills in Kind, Method and ID of the message in frame. If cut, frame is only its beginning, and tail its end as far as
// that is known; answer is the id to assume where the frame shows none: its own, or that of the request that it answers.
func Classify(e journal.Entry, frame, tail []byte, cut bool, answer string) journal.Entry {
	env, err := jsonrpc.Scan(frame)
	switch {
	case err == nil:
		e.Kind, e.Method, e.ID = journal.FrameKind(env.Kind), env.Method, string(env.ID)
		if env.Kind == jsonrpc.ErrorResponse && (env.ID == nil || env.ID[0] == 'n') {
			e.Note = note(e.Note, "error without an id")
		}
		return e
	case !cut:
		e.Kind, e.Note = journal.Bad, note(e.Note, err.Error())
		return e
	}
	id, failed := env.ID, env.Error != nil
	if id == nil {
		if found := idAtEnd.FindSubmatch(tail); found != nil {
			id = found[1]
		}
	}
	e.Method, e.ID = env.Method, string(id)
	if e.ID == "" && (e.Method == "" || e.Dir == journal.Out) {
		e.ID = answer
	}
	switch {
	case env.Method != "" && e.ID != "":
		e.Kind = journal.Request
	case env.Method != "":
		e.Kind = journal.Notification
	default:
		e.Kind = journal.Response
		if failed {
			e.Kind = journal.ErrorResponse
		}
	}
	if first := bytes.TrimLeft(frame, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		e.Kind = journal.Bad
	}
	return e
}
