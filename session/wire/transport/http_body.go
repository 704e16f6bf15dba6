package transport

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// errTooLarge is what readBody returns for a body above its limit.
var errTooLarge = errors.New("the body is too large")

// readBody reads a body of at most max bytes into one slice of its size, and returns what it has with every error.
// length is what the server announced, -1 if it did not.
func readBody(r io.Reader, length, max int64) ([]byte, error) {
	// A server may announce anything, so little is taken on trust: the full size only once some of it came.
	const trust = 1 << 20
	if length > max {
		length = -1
	}
	if length > trust {
		start := make([]byte, trust)
		n, err := readFull(r, start)
		if err != nil {
			return start[:n], noEOF(err)
		}
		body := make([]byte, length)
		n, err = readFull(r, body[copy(body, start):])
		if n += trust; int64(n) < length {
			return body[:n], noEOF(err)
		}
		return body, nil // net/http ends a body at the announced length
	}
	// Each chunk is as large as all before it, up to 8 MiB: few of them, and never more than twice the body in memory.
	var chunks [][]byte
	var n int64
	size := int64(16 << 10)
	if length >= 0 {
		size = length + 1 // one more, to see the end without another chunk
	}
	for {
		chunk := make([]byte, size)
		k, err := readFull(r, chunk)
		n += int64(k)
		chunks = append(chunks, chunk[:k])
		switch {
		case n > max:
			return join(chunks, max), errTooLarge
		case err == io.EOF:
			return join(chunks, n), nil
		case err != nil:
			return join(chunks, n), err
		}
		size = min(n, 8<<20, max-n+1)
	}
}

// noEOF turns the end of a body before its announced length into an error.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readFull is io.ReadFull without its loss: a body that ends gives io.EOF, one that was cut its own error.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}

// join makes one slice of at most n bytes.
func join(chunks [][]byte, n int64) []byte {
	if len(chunks) == 1 {
		return chunks[0][:min(n, int64(len(chunks[0])))]
	}
	b := make([]byte, 0, n)
	for i, c := range chunks {
		b = append(b, c[:min(int64(len(c)), n-int64(len(b)))]...)
		chunks[i] = nil
	}
	return b
}

// refusal reads the answer to a refused request, and journals its body.
func (c *httpClient) refusal(x *exchange, resp *http.Response) *HTTPError {
	h, body := c.readRefusal(resp)
	c.journalBody(x, resp, body)
	return h
}

// readRefusal is refusal for a body that can be a message, which whoever takes it journals; body is all of it.
func (c *httpClient) readRefusal(resp *http.Response) (h *HTTPError, body []byte) {
	timer := time.AfterFunc(errorBodyGrace, func() { _ = resp.Body.Close() })
	defer timer.Stop()
	body, _ = readBody(resp.Body, resp.ContentLength, c.max) // whatever there is
	x, _ := resp.Request.Context().Value(exchangeKey{}).(*exchange)
	body = x.hide(resp.Request, body)
	return &HTTPError{
		Status: resp.StatusCode, Method: resp.Request.Method, URL: mask.URL(resp.Request.URL.String()),
		Header: resp.Header, Body: body[:min(len(body), maxErrorBody)],
	}, body
}

// journalBody records a body that is not a message, beside the status line that RoundTrip recorded. An empty one is not worth an entry.
func (c *httpClient) journalBody(x *exchange, resp *http.Response, body []byte) {
	if len(body) > 0 {
		c.tap.Append(journal.Entry{Kind: journal.HTTP, Dir: journal.In, Method: x.method, ID: x.id, Note: "body of " + resp.Status}, body)
	}
}
