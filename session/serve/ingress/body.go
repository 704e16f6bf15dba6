package ingress

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Limits bounds the bodies of POST requests.
type Limits struct {
	Body int64         // bytes
	Time time.Duration // for the whole of it to arrive
}

// Read reads the body of a POST, which must be JSON as it is, under its limits. The error is a
// *jsonrpc.RequestError, after which the connection is not fit for another request.
func (l Limits) Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t := r.Header.Values("Content-Type"); len(t) != 1 || t[0] != TypeJSON {
		kind := ""
		if len(t) == 1 {
			kind, _, _ = mime.ParseMediaType(t[0])
		}
		if kind != TypeJSON {
			return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindInvalidRequest, Message: "the body must be JSON: send Content-Type: " + TypeJSON, Status: http.StatusUnsupportedMediaType}
		}
	}
	if enc := r.Header.Values("Content-Encoding"); len(enc) > 1 || len(enc) == 1 && enc[0] != "" && enc[0] != "identity" {
		return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindInvalidRequest, Message: "Content-Encoding is not supported; send the body uncompressed", Status: http.StatusUnsupportedMediaType}
	}
	if r.ContentLength > l.Body {
		if r.Header.Get("Expect") == "" { // a client that expects 100 Continue has sent nothing yet
			l.drainBody(w, r)
		}
		return nil, l.tooLarge()
	}
	if len(r.TransferEncoding) > 0 { // RFC 9112 section 6.1: with a Content-Length too, what follows may be a smuggled request
		w.Header().Set("Connection", "close")
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(l.Time)) // not every ResponseWriter has deadlines; a test's has none
	body, err := l.read(r.Body, r.ContentLength)
	switch { // after an error the deadline stays, for the server reads on
	case err == nil && int64(len(body)) > l.Body:
		l.drainBody(w, r)
		return nil, l.tooLarge()
	case err == nil:
		_ = rc.SetReadDeadline(time.Time{})
		return body, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindTimeout, Message: "the body did not arrive within " + l.Time.String(), Status: http.StatusRequestTimeout}
	}
	return nil, &jsonrpc.RequestError{Kind: jsonrpc.KindParse, Message: "the body is incomplete or not framed as its headers say", Status: http.StatusBadRequest, Err: err}
}

func (l Limits) tooLarge() error {
	return &jsonrpc.RequestError{Kind: jsonrpc.KindTooLarge, Data: map[string]any{"limit": l.Body}, Message: "Request too large: the limit is " + Size(l.Body)}
}

// maxLinger is how many bytes of a body that is too large are read to give its sender the answer.
const maxLinger = 64 << 20

// drainBody reads and forgets what is left of a body. Many clients read no answer before they have sent everything, and would
// only see a broken connection.
func (l Limits) drainBody(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(l.Time)) // as in Read
	_, _ = io.CopyN(io.Discard, r.Body, maxLinger) // the answer is the same, whatever comes
}

// firstPiece is how many bytes are reserved for a body before any of it came.
const firstPiece = 64 << 10

// read reads at most one byte above the limit. A client that only announces many bytes makes it reserve few: 32 times what came.
func (l Limits) read(r io.Reader, announced int64) ([]byte, error) {
	lr := io.LimitedReader{R: r, N: l.Body + 1}
	first := announced + 1 // the end is found with room for one byte more
	if first <= 0 {
		first = 512
	}
	buf := make([]byte, 0, min(first, firstPiece))
	for {
		if n := len(buf); n == cap(buf) {
			more := 2 * n
			if announced >= int64(more) {
				more = int(min(announced+1, 32*int64(n)))
			}
			buf = append(make([]byte, 0, more), buf...)
		}
		n, err := lr.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// Size is a limit as messages name it: exactly, and as people read sizes.
func Size(n int64) string {
	return strconv.FormatInt(n, 10) + " bytes (" + text.Bytes(n) + ")"
}
