package bench

import (
	"net/http"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// firstID is the first id of our own requests: the session, over whose connection they go, counts from 1.
const firstID = 1_000_000

// message is a request as the session of a connection would send it, for any id.
type message struct {
	head, tail []byte // of the frame, around its id
	params     []byte
	method     string
	header     http.Header
	request    *http.Request // over HTTP, without a body; none of it is modified
}

// prepareMessage takes a frame that a session made. A progress token is the id of its request, and no progress is of use here.
func prepareMessage(frame []byte, h http.Header) (*message, error) {
	changed, err := jsonrpc.Update(frame, jsonrpc.Delete("params", "_meta", "progressToken"))
	if err != nil {
		return nil, err
	}
	if string(jsonrpc.Get(changed, "params", "_meta")) == "{}" {
		if changed, err = jsonrpc.Update(changed, jsonrpc.Delete("params", "_meta")); err != nil {
			return nil, err
		}
	}
	env, err := jsonrpc.Scan(changed)
	if err != nil {
		return nil, err
	}
	from, to, _ := jsonrpc.Find(changed, "id") // it is a request
	return &message{head: changed[:from:from], tail: changed[to:], params: env.Params, method: env.Method, header: h}, nil
}

func (m *message) frame(id uint64) []byte {
	b := make([]byte, 0, len(m.head)+len(m.tail)+20)
	return append(strconv.AppendUint(append(b, m.head...), id, 10), m.tail...)
}

// cancelledFrame tells a server of the legacy era, or at the end of a pipe, that nobody waits for an answer any more.
func cancelledFrame(id uint64) []byte {
	return jsonrpc.NewNotification("notifications/cancelled", append(strconv.AppendUint([]byte(`{"requestId":`), id, 10), `,"reason":"timed out or ended by the client"}`...))
}
