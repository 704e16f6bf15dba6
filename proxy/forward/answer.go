// Sixth part of an exchange: the agent's answer goes to the client. What is an event stream goes on in stream.go.

package forward

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	bufferSize = 32 << 10  // bytes; a body up to this is written in one piece, with its length
	pieceSize  = 128 << 10 // of what is longer
	maxAnswer  = 10 << 20  // of an answer that has to be understood: those to initialize and server/discover
)

// buffers are for bodies that are passed on; whoever gets one puts it back.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// answer forwards the agent's answer. It closes the response body. An agent that has forgotten the session ends it here too: the client is told with
// a 404, as the specification has it, and opens another.
func (x *exchange) answer(res *http.Response) {
	defer func() { _ = res.Body.Close() }()
	if x.opens {
		defer x.abandonUnopened(res.Header.Get(ingress.HeaderSession))
	}
	if x.session != nil && x.out.session != "" && sessionLost(res, x.id) {
		x.session.Forget()
		x.c.Refuse(ingress.NoSession(true))
		return
	}
	if s := res.StatusCode; s < 200 || s >= 300 && s < 400 {
		x.answerFailure(fmt.Errorf("unexpected HTTP status %d: correct the route's URL", s))
		return
	}
	h := x.c.W.Header()
	if x.c.R.Method == http.MethodPost && x.c.Env.Kind != jsonrpc.Request && res.StatusCode < 300 {
		x.setVersion(h)
		x.c.Empty(http.StatusAccepted)
		return
	}
	sse := ingress.IsEvents(res.Header)
	copyReturned(h, res.Header)
	switch {
	case sse && x.unwrap:
		x.passUnwrapped(res)
	case sse:
		x.passEvents(res)
	case (x.rewrite || x.opens) && res.StatusCode == http.StatusOK:
		x.passIntroduction(res)
	default:
		x.setVersion(h)
		x.passBody(res)
	}
}

// maxRefusal is how many bytes are read of an answer that may report an unknown session.
const maxRefusal = 4 << 10

// lostWords matches messages that report an unknown session. That an error mentions a session is not enough: a tool may
// speak of sessions of its own.
var lostWords = regexp.MustCompile(`(?i)session[ -]?id|(mcp|valid|no|no such|unknown|missing) session|session (was )?(not found|expired|terminated|closed|unknown|invalid)|not initialized`)

// sessionLost reports whether the agent says that it does not know the session, given the id of the request. By the specification it
// answers 404; some servers of the TypeScript SDK's examples answer 400 and say it in words. A JSON-RPC error is an answer to
// the request otherwise: 404 is also how the modern era says that there is no such method, and how some say that of a tool.
func sessionLost(res *http.Response, id []byte) bool {
	if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusBadRequest {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	rest := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	plain := res.StatusCode == http.StatusNotFound
	if err != nil {
		return plain
	}
	env, err := jsonrpc.Scan(bytes.TrimSpace(head))
	if err != nil || env.Kind != jsonrpc.ErrorResponse {
		return plain
	}
	e, err := jsonrpc.ParseError(env.Error)
	if err != nil || e.Code < -32099 || e.Code > -32000 {
		return false
	}
	return plain && !bytes.Equal(env.ID, id) || lostWords.MatchString(e.Message)
}

// returned are the headers of an agent's answer that the caller gets to see, beside Content-Length and those of the
// router.
var returned = []string{
	"Allow", "Cache-Control", "Content-Encoding", "Content-Language", "Content-Type", "Retry-After", "Www-Authenticate", headerVersion,
}

// An answer that a browser opens as a page must not act for the router, at whose address it is: whatever type the agent gives
// it, nothing in it runs, loads or counts as of the same origin.
var (
	nosniff = []string{"nosniff"}
	sandbox = []string{"default-src 'none'; sandbox"}
)

// copyReturned copies what of an agent's headers goes to the caller, with what keeps a browser from taking the answer for a page of the router.
func copyReturned(to, from http.Header) {
	for _, name := range returned {
		if v := from[name]; len(v) > 0 {
			to[name] = v
		}
	}
	to["X-Content-Type-Options"], to["Content-Security-Policy"] = nosniff, sandbox
}

// passBody passes a body on that is not an event stream. A short one is written in one piece; of a longer one each piece is written
// before the next is read, so that no size is too large.
func (x *exchange) passBody(res *http.Response) {
	x.alive()
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	from := x.restoreID(res.Body)
	n, err := x.fill(from, buf[:])
	length := res.ContentLength
	if from != res.Body {
		length = -1
	}
	h := x.c.W.Header()
	switch {
	case err == io.EOF && (length < 0 || length == int64(n)):
		h["Content-Length"] = []string{strconv.Itoa(n)}
		x.writeHeader(res.StatusCode)
		x.write(buf[:n])
		return
	case err != nil:
		x.abort(err)
		return
	case length >= 0:
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	x.writeHeader(res.StatusCode)
	piece := buf[:]
	for err == nil {
		if !x.write(piece[:n]) {
			return
		}
		if len(piece) < pieceSize {
			piece = make([]byte, pieceSize)
		}
		x.alive()
		x.unboundWrite()
		n, err = from.Read(piece)
	}
	if x.boundWrite(); n > 0 && !x.write(piece[:n]) {
		return
	}
	if err != io.EOF {
		x.abort(err)
	}
}

// fill reads until the buffer is full or the body ends; then the error is io.EOF. With each piece the agent has its time anew.
func (x *exchange) fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		if n += k; err == nil {
			x.alive()
		}
	}
	return n, err
}

// passIntroduction passes on the answer to initialize or server/discover.
func (x *exchange) passIntroduction(res *http.Response) {
	x.alive()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		x.abort(err)
		return
	}
	if len(body) > maxAnswer {
		x.answerFailure(fmt.Errorf("answer to %s is larger than %s", x.c.Env.Method, text.Bytes(maxAnswer)))
		return
	}
	body, err = x.introduce(body, res.Header)
	if err != nil {
		x.answerFailure(err)
		return
	}
	h := x.c.W.Header()
	x.setVersion(h)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.writeHeader(res.StatusCode)
	x.write(body)
}

// introduce reads the answer to initialize or server/discover: it gives the server the name under which the router serves it,
// and opens the session. An answer that is not understood stays as it is.
func (x *exchange) introduce(body []byte, from http.Header) ([]byte, error) {
	env, err := jsonrpc.Scan(bytes.TrimSpace(body))
	if err != nil || env.Kind != jsonrpc.Response {
		return body, nil // an error of the agent opens nothing
	}
	version := versionIn(env.Result)
	if x.opens {
		id, err := x.mint(x.c, from.Get(ingress.HeaderSession), version)
		if err != nil {
			return nil, err
		}
		x.minted = true
		x.c.W.Header()[ingress.HeaderSession] = []string{id}
		if version != "" {
			x.version = version
		}
	}
	return rename(body, x.name), nil
}

// maxVersion bounds a protocol version, in bytes. They are dates.
const maxVersion = 64

// versionIn is the protocol version that an agent agreed to, "" if it names none that a header could carry: it is kept with the
// session and sent with each request, where a line break in it would begin headers, and requests, of the agent's own.
func versionIn(result []byte) string {
	v := jsonrpc.GetString(result, "protocolVersion")
	if len(v) > maxVersion || !ingress.Visible(v) {
		return ""
	}
	return v
}

const metaServerInfo = "io.modelcontextprotocol/serverInfo"

// rename replaces result.serverInfo.name of a response, and the same in result._meta, where a 2026-07-28 server gives it. All
// other bytes stay. A body without it stays as it is.
func rename(body []byte, name string) []byte {
	quoted := jsonrpc.Quote(name)
	var changes []jsonrpc.Change
	for _, path := range [][]string{{"result", "serverInfo", "name"}, {"result", "_meta", metaServerInfo, "name"}} {
		if v := jsonrpc.Get(body, path...); v != nil && v[0] == '"' {
			changes = append(changes, jsonrpc.Replace(quoted, path...))
		}
	}
	body, _ = jsonrpc.Update(body, changes...) // what is malformed stays as it is
	return body
}

// abandonUnopened ends a session at the agent for which the caller got no id.
func (x *exchange) abandonUnopened(upstream string) {
	if upstream != "" && !x.minted {
		x.Abandon(sessions.Binding{Agent: x.c.Agent, Endpoint: x.where, Upstream: upstream, Version: x.version})
	}
}

// setVersion says which version of the protocol the answer is of, where the agent does not and it is known.
func (x *exchange) setVersion(h http.Header) {
	if x.version != "" && len(h[headerVersion]) == 0 {
		h[headerVersion] = []string{x.version}
	}
}

// writeHeader begins the answer to the client; c.Status is not 0 from here on, which is how others know.
func (x *exchange) writeHeader(status int) {
	x.c.Status = status
	x.boundWrite()
	x.c.W.WriteHeader(status)
}

// write writes to the client; false when it is gone.
func (x *exchange) write(p []byte) bool {
	x.boundWrite()
	n, err := x.c.W.Write(p)
	x.c.Sent += int64(n)
	if err != nil {
		x.recordGone()
	}
	return err == nil
}

// boundWrite bounds how long the client may take to read what is written next. Setting it anew for each of many writes would cost
// much of what they cost.
func (x *exchange) boundWrite() {
	now := time.Now()
	if now.Sub(x.bounded) < x.s.WriteTimeout/32 {
		return
	}
	x.bounded = now
	if x.rc == nil {
		x.rc = http.NewResponseController(x.c.W)
	}
	_ = x.rc.SetWriteDeadline(now.Add(x.s.WriteTimeout)) // not every ResponseWriter has deadlines; a test's has none
}

// unboundWrite removes the deadline while there is nothing to write: over HTTP/2 a deadline that passes ends the stream.
func (x *exchange) unboundWrite() {
	if x.c.R.ProtoMajor > 1 {
		_ = x.rc.SetWriteDeadline(time.Time{}) // as in boundWrite
		x.bounded = time.Time{}
	}
}

// abort ends an answer that the agent did not end. The client must not take what it has for a whole answer, so that the
// connection is cut.
func (x *exchange) abort(err error) {
	if x.c.R.Context().Err() != nil {
		x.recordGone()
		return
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || x.c.Status != 0 || x.ctx.Err() == nil {
		x.c.Failure = &jsonrpc.RequestError{Kind: jsonrpc.KindUpstream, Message: "the agent's answer ended early", Err: err}
		if x.c.Status == 0 {
			x.c.Status = http.StatusBadGateway
		}
		panic(http.ErrAbortHandler)
	}
	x.answerFailure(err) // silent before anything was passed on: there is a better answer than none
}

// restoreID puts the caller's id back in place of an alias.
func (x *exchange) restoreID(r io.Reader) io.Reader {
	if bytes.Equal(x.id, x.c.Env.ID) {
		return r
	}
	return &restorer{r: r, alias: x.id, id: x.c.Env.ID}
}

// restorer replaces an alias in what it reads. It holds nothing back but what may be the beginning of an alias.
type restorer struct {
	r         io.Reader // the agent's answer
	alias, id []byte    // what is found, and what is put in its place
	buf       []byte    // nil before the first Read
	kept, out []byte    // parts of buf, unless an alias was found: held back, and not read yet
	err       error     // of r; returned once out is read
}

// Read reads with the alias replaced.
func (r *restorer) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.buf == nil {
			r.buf = make([]byte, 8<<10)
		}
		r.out = nil // was a part of buf
		k := copy(r.buf, r.kept)
		n, err := r.r.Read(r.buf[k:])
		rest := r.buf[:k+n]
		for {
			i := bytes.Index(rest, r.alias)
			if i < 0 {
				break
			}
			r.out = append(append(r.out, rest[:i]...), r.id...)
			rest = rest[i+len(r.alias):]
		}
		keep := 0
		if r.err = err; err == nil {
			keep = overlap(rest, r.alias)
		}
		r.kept, rest = rest[len(rest)-keep:], rest[:len(rest)-keep]
		if len(r.out) == 0 {
			r.out = rest
		} else {
			r.out = append(r.out, rest...)
		}
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// overlap is the length of the longest end of b that alias begins with.
func overlap(b, alias []byte) int {
	for n := min(len(b), len(alias)-1); n > 0; n-- {
		if bytes.HasPrefix(alias, b[len(b)-n:]) {
			return n
		}
	}
	return 0
}
