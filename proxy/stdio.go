package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

const (
	lastWords = 300 * time.Millisecond // for requests that run at the end of the input
	lastGasp  = time.Second            // for them to end once they are cancelled
)

// ServeStdio serves the endpoint of all agents over a pipe, one message a line, until in ends or ctx is done. Requests that run then
// get 300 ms; afterwards they are cancelled. The error is why in could not be read, or out not be written. Neither in nor out must block
// for ever once ctx is done; until then, goroutines use them.
func (r *Router) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c, err := duplex.Connect(ctx, r.o.Name, "/mcp", inProcess{r}, func(frame []byte) error {
		_, err := out.Write(append(frame[:len(frame):len(frame)], '\n'))
		return err
	})
	if err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- readLines(c, in, int(r.o.MaxRequest)) }()
	select {
	case err = <-read:
	case <-ctx.Done():
		if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
			_ = d.SetReadDeadline(time.Now()) // pipes of some systems have none; the reader ends with its input then
		}
	case <-r.Done():
	}
	words, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		c.End(words)
		close(closed)
	}()
	select {
	case <-closed:
		return err
	case <-time.After(lastWords + lastGasp):
		return errors.Join(err, errors.New("the client does not read its input"))
	}
}

// inProcess serves requests by the router itself.
type inProcess struct{ r *Router }

// RoundTrip serves one.
func (i inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return duplex.RoundTrip(i.r.Handler(), in, i.r.logPanic)
}

// logPanic logs that a handler panicked that serves a request of this process.
func (r *Router) logPanic(v any) {
	r.log.Error("request handler panicked", "panic", mask.Log(fmt.Sprint(v)), "stack", string(debug.Stack()))
}

// readLines takes the messages of a client over a pipe until the input ends.
func readLines(c *duplex.Client, in io.Reader, limit int) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := ingress.ReadLine(r, limit)
		switch line = bytes.TrimSpace(line); {
		case long:
			c.Refuse(line, ingress.LineTooLong(limit))
		case len(line) > 0:
			if c.Take(line, nil) != nil {
				return c.Failed()
			}
		}
		switch {
		case c.Failed() != nil:
			return c.Failed()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
