package tap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// maxRequest is the largest body of a request that a reverse proxy takes.
const maxRequest = 64 << 20

// Reverse is a reverse proxy for one server, at the paths that it has itself. Bodies pass unchanged and are streamed, and are
// recorded under name. p must not be nil. The caller closes idle connections of transport.
func (p *Producer) Reverse(name string, to *url.URL, transport http.RoundTripper) http.Handler {
	forward := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, ""
			if to.RawQuery != "" && r.In.URL.Path == to.Path && r.In.URL.RawQuery == "" {
				r.Out.URL.RawQuery = to.RawQuery
			}
			if to.User != nil && r.In.Header.Get("Authorization") == "" {
				password, _ := to.User.Password()
				r.Out.SetBasicAuth(to.User.Username(), password)
			}
			if r.In.Header.Get("Origin") != "" { // the guard let it pass: it is this proxy's own
				r.Out.Header.Set("Origin", to.Scheme+"://"+to.Host)
			}
			r.Out.Header.Set("Accept-Encoding", "identity") // what is compressed could not be shown
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				refuse(w, http.StatusBadGateway, "cannot reach "+mask.URL(to.String())+": "+err.Error())
			}
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(w, r)
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d MB", maxRequest>>20))
			return
		case err != nil:
			refuse(w, http.StatusBadRequest, "cannot read the request: "+err.Error())
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		env, _ := jsonrpc.Scan(body) // what is not a message is recorded as such
		session := sessionOf(r, to)
		x := p.Exchange(name, session)
		x.apart = session == sseSession && r.Method == http.MethodPost
		defer func() { x.Close(r.Context().Err()) }()
		rec := &recorder{ResponseWriter: w, x: x, c: &flow.Call{Request: flow.Request{W: w, R: r}, Message: flow.Message{Body: body, Env: env}}}
		rec.recordRequest()
		forward.ServeHTTP(rec, r)
	})
}

// readTimeout is how long the body of a request may take.
const readTimeout = time.Minute

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(readTimeout)) // not all writers have deadlines
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
}

// sseSession stands for the session of HTTP+SSE, whose id only the body of the stream has.
const sseSession = "sse"

// sessionOf is the session that a request belongs to, "" if it names none. The two halves of HTTP+SSE, a stream of answers and the
// messages to another path, name none in their heads, and belong together.
func sessionOf(r *http.Request, to *url.URL) string {
	if id := r.Header.Get(ingress.HeaderSession); id != "" {
		return id
	}
	if r.Method == http.MethodGet || r.Method == http.MethodPost && r.URL.Path != to.Path {
		return sseSession
	}
	return ""
}

// refuse answers for the server.
func refuse(w http.ResponseWriter, status int, why string) {
	b, err := json.Marshal(map[string]string{"error": why})
	if err != nil { // a string: cannot happen
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}
