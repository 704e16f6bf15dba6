package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
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
	// Over HTTP. None of it is modified.
	url    *url.URL
	host   string
	header http.Header
	addr   string // of the server
	first  []byte // of the request over HTTP/1.1: up to the number of bytes of its body
	second []byte // and from there to the frame
}

// prepared takes a frame that a session made. A progress token is the id of its request, and no progress is of use here.
func prepared(frame []byte, h http.Header) (*message, error) {
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

// write makes what goes over HTTP/1.1, as net/http writes it.
func (m *message) write() error {
	m.addr = net.JoinHostPort(m.url.Hostname(), cmp.Or(m.url.Port(), "80"))
	frame := m.frame(firstID)
	var b bytes.Buffer
	if err := request(context.Background(), m, frame).Write(&b); err != nil {
		return err
	}
	length := fmt.Sprintf("\r\nContent-Length: %d\r\n", len(frame))
	first, second, ok := bytes.Cut(b.Bytes()[:b.Len()-len(frame)], []byte(length))
	if !ok {
		return errNotMade
	}
	m.first = append(first, "\r\nContent-Length: "...)
	m.second = append([]byte("\r\n"), second...)
	return nil
}

// wire appends the request with this id as it goes over HTTP/1.1.
func (m *message) wire(to []byte, id uint64) []byte {
	var digits [20]byte
	n := strconv.AppendUint(digits[:0], id, 10)
	to = strconv.AppendInt(append(to, m.first...), int64(len(m.head)+len(n)+len(m.tail)), 10)
	to = append(append(append(to, m.second...), m.head...), n...)
	return append(to, m.tail...)
}

// cancelled tells a server of the legacy era, or at the end of a pipe, that nobody waits for an answer any more.
func cancelled(id uint64) []byte {
	return jsonrpc.NewNotification("notifications/cancelled", append(strconv.AppendUint([]byte(`{"requestId":`), id, 10), `,"reason":"timed out or ended by the client"}`...))
}
