package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/sse"
)

const (
	retryDefault = time.Second           // between connections to a stream, if the server does not say
	retryLeast   = 50 * time.Millisecond // whatever it says
	retryMost    = 30 * time.Second      // after failures
	resumeTries  = 5                     // failures in a row
	drainTime    = time.Second           // for the end of a stream that has brought its answer
	openTime     = 2 * time.Second       // for the server to open its own stream, before a call that may make it use that
)

// events delivers the messages of one event stream. One goroutine has it.
type events struct {
	t     *httpClient
	in    Receiver // of the messages: of one request, or of the connection
	r     *sse.Reader
	count int // events so far, those that are not messages included: a stream that brought any counts as one that worked
}

// newEvents reads from body. Of a message above the limit up to maxSkip further bytes are thrown away, to get to the next one: worth it on a stream
// that has more to say, 0 on the stream of an answer, whose request fails with it.
func (c *httpClient) newEvents(in Receiver, body io.Reader, maxSkip int64) *events {
	return &events{t: c, in: in, r: sse.NewReader(body, c.max, maxSkip)}
}

// next delivers the next message and returns it. io.EOF is the end of the stream; after an *Error about a
// message that was too large the stream can be read on, unless fatal.
func (e *events) next(x *exchange) (frame []byte, fatal bool, err error) {
	for {
		ev, err := e.r.Next()
		var long *sse.TooLongError
		switch {
		case errors.As(err, &long):
			bad := frameTooLarge(long.Limit+1, long.Limit)
			e.in.Broken(long.Head, long.Tail, bad)
			return nil, long.Fatal, bad
		case err != nil:
			if len(ev.Data) > 0 {
				head, tail := edges(ev.Data)
				e.in.Broken(head, tail, &failure.Error{
					Kind: failure.Protocol, Message: fmt.Sprintf("the stream ended after %d bytes of an event", len(ev.Data)),
					Next: "look at the server's own log",
				})
			}
			return nil, true, err
		}
		e.count++
		if ev.Name != "message" {
			e.t.tap.Append(journal.Entry{
				Kind: journal.Bad, Dir: journal.In, Method: x.method, ID: x.id, Note: fmt.Sprintf("server-sent event %.80q is not a message", ev.Name),
			}, ev.Data)
			continue
		}
		e.in.Frame(ev.Data)
		return ev.Data, false, nil
	}
}

// stream delivers a stream that answers m until the answer came, across broken connections where the server allows it.
// It reports keep if the exchange and the response live on, to take the rest of the stream.
//
// A server allows it by giving its events ids
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery). The POST itself is never sent
// again: nobody knows what the server did because of it.
func (t *streamable) stream(x *exchange, m Message, resp *http.Response) (keep bool, err error) {
	body := resp.Body // closed by the caller or by drain; those that follow it here
	defer func() {
		if !keep {
			_ = body.Close()
		}
	}()
	in := t.in
	if to, ok := in.(Stream); ok {
		in = to.Of(m.Env.ID)
	}
	resumable := max(m.Header.Get("MCP-Protocol-Version"), t.Version()) < modernSince
	lastID, retry := "", time.Duration(-1)
	for {
		ev := t.newEvents(in, body, 0)
		for {
			frame, _, e := ev.next(x)
			if err = e; e != nil {
				break
			}
			if answeredBy(frame, m) {
				t.drain(x, ev, body)
				return true, nil
			}
		}
		if id := ev.r.LastID(); id != "" {
			lastID = id
		}
		if d, ok := ev.r.Retry(); ok {
			retry = d
		}
		var bad *failure.Error
		switch {
		case x.caller.Err() != nil:
			return false, x.caller.Err()
		case t.life.Err() != nil:
			return false, errClosed()
		case errors.As(err, &bad): // too large: the server would only send it again
			return false, bad
		}
		cut := t.errCut(err)
		if lastID == "" || !resumable {
			return false, cut
		}
		_ = body.Close()
		next, err := t.resume(x, lastID, retry, cut)
		if err != nil {
			return false, err
		}
		body = next
	}
}

// errCut says how a response stream ended before the answer.
func (t *streamable) errCut(err error) *failure.Error {
	e := &failure.Error{
		Kind: failure.ChannelClosed, URL: mask.URL(t.url.String()), Message: "the server closed the response stream without answering",
		Next: "look at the server's own log, then try again",
	}
	if err != io.EOF {
		e.Message, e.Err = "the response stream was cut before the answer came", err
		if err != io.ErrUnexpectedEOF {
			e.Message += ": " + err.Error()
		}
	}
	return e
}

// drain takes what follows the answer, so that nothing is lost and the connection can be used again.
func (t *streamable) drain(x *exchange, ev *events, body io.Closer) {
	x.detach() // the caller is done
	t.wg.Add(1)
	timer := time.AfterFunc(drainTime, x.cancel)
	go func() {
		defer t.wg.Done()
		defer x.close()
		defer timer.Stop()
		defer func() { _ = body.Close() }()
		for {
			if _, fatal, _ := ev.next(x); fatal {
				return
			}
		}
	}()
}

// resume asks for a broken stream to go on after the event lastID. cut is the error if it does not, completed with why. retry is the pause that
// the server asked for, negative for none. A server that is down is waited for, one that refuses with a 4xx is not; a 404 may mean that the
// session is gone (ErrSessionLost). The caller closes the stream.
func (t *streamable) resume(x *exchange, lastID string, retry time.Duration, cut *failure.Error) (io.ReadCloser, error) {
	wait := retryDefault
	if retry >= 0 {
		wait = max(retry, retryLeast)
	}
	for try := 1; ; try++ {
		if err := pause(x, wait); err != nil {
			if cause := x.caller.Err(); cause != nil {
				return nil, cause
			}
			return nil, errClosed()
		}
		resp, err := t.get(x, lastID)
		switch {
		case err == nil && resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream":
			return resp.Body, nil
		case err == nil:
			h := t.refusal(x, resp)
			_ = resp.Body.Close()
			if h.Status == 404 && t.SessionID() != "" {
				return nil, fmt.Errorf("%w: %w", ErrSessionLost, h)
			}
			if h.Status < 500 && h.Status != http.StatusTooManyRequests || try == resumeTries {
				cut.Message += fmt.Sprintf(", and the server does not resume it (%s)", resp.Status)
				cut.Status, cut.Err = h.Status, h
				return nil, cut
			}
		case x.caller.Err() != nil || t.life.Err() != nil:
			return nil, err
		case try == resumeTries:
			cut.Message += ", and the server cannot be reached again"
			cut.Err = err
			return nil, cut
		}
		wait = min(max(wait, retryDefault/4)*2, retryMost)
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get opens an event stream: a broken one after lastID, or the server's own.
func (t *streamable) get(x *exchange, lastID string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(x, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return nil, explainHTTP(err, t.url, t.connect)
	}
	t.header(req.Header, "text/event-stream", nil)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	return t.do(x, req)
}

// listen opens the stream for messages that the server sends by itself, once
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server).
func (t *streamable) listen() {
	t.mu.Lock()
	again := t.opened != nil
	if !again {
		t.opened, t.openBy = make(chan struct{}), time.Now().Add(openTime)
	}
	t.mu.Unlock()
	if again || !t.begin() {
		return
	}
	go func() {
		defer t.wg.Done()
		x := t.exchange(t.life, "", "")
		defer x.close()
		t.listenOn(x)
	}()
}

// awaitOpened lets the server open its own stream first: what it asks during a call can be lost without one. It waits only where
// that is still under way, and a server may hold the answer back until it has something to say.
func (t *streamable) awaitOpened(ctx context.Context, method string) {
	switch method {
	case "tools/call", "resources/read", "prompts/get":
	default:
		return
	}
	t.mu.Lock()
	opened, by := t.opened, t.openBy
	t.mu.Unlock()
	if opened == nil {
		return
	}
	select {
	case <-opened:
		return
	default:
	}
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-opened:
	case <-timer.C:
	case <-ctx.Done():
	case <-t.life.Done():
	}
}

// listenOn keeps that stream open. A server need not offer it, and that it does not can take many forms: any refusal
// that trying again cannot change ends it. Once it worked, a 404 means that the session is gone, and that nothing listens
// any more that the server is.
func (t *streamable) listenOn(x *exchange) {
	lastID, retry := "", retryDefault
	worked, failures := false, 0
	for first := true; ; first = false {
		resp, err := t.get(x, lastID)
		if first {
			close(t.opened)
		}
		switch {
		case err != nil:
			failures++
			if worked && failures > 1 && Refused(err) {
				t.in.Lost(err)
				return
			}
			if !worked && failure.RemedyOf(err) == failure.LogIn { // it takes our messages, and this not
				return
			}
		case resp.StatusCode == http.StatusOK && mediaType(resp) == "text/event-stream":
			worked = true
			ev := t.newEvents(t.in, resp.Body, 4*t.max)
			for fatal := false; !fatal; {
				_, fatal, _ = ev.next(x)
			}
			_ = resp.Body.Close()
			if id := ev.r.LastID(); id != "" {
				lastID = id
			}
			if d, ok := ev.r.Retry(); ok {
				retry = max(d, retryLeast)
			}
			failures++
			if ev.count > 0 {
				failures = 0
			}
		default:
			h := t.refusal(x, resp)
			_ = resp.Body.Close()
			failures++
			switch {
			case t.life.Err() != nil:
			case worked && h.Status == http.StatusNotFound && t.SessionID() != "":
				t.in.Lost(fmt.Errorf("%w: %w", ErrSessionLost, h))
				return
			case h.Status < 500 && h.Status != http.StatusTooManyRequests, !worked && failures >= resumeTries:
				return
			}
		}
		if pause(x, failure.Backoff(failures, retry, max(retryMost, retry))) != nil {
			return
		}
	}
}
