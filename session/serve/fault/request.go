package fault

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxPeek is how much of a body is read to see what it asks for; longer ones are passed on unseen.
const maxPeek = 1 << 20

// bodyTime is how long a client may take to send that much.
const bodyTime = 30 * time.Second

// Request is what can be seen of an HTTP request's JSON-RPC message.
type Request struct {
	Frame  []byte // the whole body, nil if there is none or it is too long
	ID     []byte // with the client's bytes, nil for notifications and other messages
	Method string // of the message, "" if there is none
	Tool   string // the tool that a tools/call names
	Params []byte
}

// Peek looks at the message in the body of a POST and puts the body back.
func Peek(w http.ResponseWriter, r *http.Request) Request {
	if r.Method != http.MethodPost || r.Body == nil {
		return Request{}
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyTime)) // the handler sets its own; a recorder has none
	read, err := io.ReadAll(io.LimitReader(r.Body, maxPeek+1))
	_ = rc.SetReadDeadline(time.Time{})
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failing{err}
	}
	r.Body = body{io.MultiReader(bytes.NewReader(read), rest), r.Body}
	if err != nil || len(read) > maxPeek {
		return Request{}
	}
	q := Request{Frame: read}
	env, err := jsonrpc.Scan(read)
	if err != nil {
		return q
	}
	q.ID, q.Method, q.Params = env.ID, env.Method, env.Params
	if q.Method == "tools/call" {
		q.Tool = jsonrpc.GetString(q.Params, "name")
	}
	return q
}

type body struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// replaceID gives the request another id, which the answer will then have too.
func replaceID(r *http.Request, q Request) {
	var frame []byte
	_ = jsonrpc.Spans(q.Frame, func(s jsonrpc.Span) bool {
		if s.Key != "id" {
			return true
		}
		frame = append(append(append(frame, q.Frame[:s.Start]...), `"fault-of-somebody-else"`...), q.Frame[s.End:]...)
		return false
	})
	r.Body = body{bytes.NewReader(frame), r.Body}
	r.ContentLength = int64(len(frame))
}
