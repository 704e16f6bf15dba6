package hostile

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// httpTool is a broken tool that only HTTP has.
type httpTool struct {
	entry
	do func(w http.ResponseWriter, r *http.Request, id string, args []byte)
}

func httpTools() []httpTool {
	headers := func(kind string) func(w http.ResponseWriter, r *http.Request, id string, args []byte) {
		return func(w http.ResponseWriter, _ *http.Request, id string, _ []byte) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, answer(id, "ok"))
		}
	}
	return []httpTool{
		{entry{"http_status", "Answers with a status, 401, 403, 404, 406, 409, 429, 500 or any other", number1("status", 500)}, func(w http.ResponseWriter, _ *http.Request, _ string, args []byte) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Retry-After", "99999999999")
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://169.254.169.254/", error="\x1b[2J"`)
			w.WriteHeader(max(number(args, "status", 500, 599), 200))
			_, _ = io.WriteString(w, "<h1>\x1b]0;owned\x07no</h1>")
		}},
		{entry{"http_redirect", "Redirects to itself, for ever", ""}, func(w http.ResponseWriter, r *http.Request, _ string, _ []byte) {
			w.Header().Set("Location", r.URL.Path)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		{entry{"http_redirect_away", "Redirects to another machine", ""}, func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) {
			w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		{entry{"http_silent_stream", "Opens an event stream and says nothing", ""}, func(w http.ResponseWriter, r *http.Request, _ string, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			_ = kit.Sleep(r.Context(), maxWait)
		}},
		{entry{"http_never_flushed", "Writes an event and does not flush it", ""}, func(w http.ResponseWriter, r *http.Request, id string, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+answer(id, "held back")+"\n\n")
			_ = kit.Sleep(r.Context(), maxWait)
		}},
		{entry{"http_empty", "Answers 200 with no body", ""}, func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) { w.WriteHeader(http.StatusOK) }},
		{entry{"http_accepted", "Answers 202, as if the request were a notification", ""}, func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) { w.WriteHeader(http.StatusAccepted) }},
		{entry{"http_wrong_type", "Answers well, as text/html", ""}, headers("text/html; charset=utf-7")},
		{entry{"http_no_type", "Answers well, without a media type", ""}, headers("")},
		{entry{"http_lying_length", "Announces more bytes than it sends", ""}, func(w http.ResponseWriter, _ *http.Request, id string, _ []byte) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, answer(id, "short"))
		}},
		{entry{"http_gzip_bomb", "Answers with bytes bytes, compressed to a thousandth, asked or not", number1("bytes", 100<<20)}, func(w http.ResponseWriter, r *http.Request, id string, args []byte) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, strings.TrimSuffix(answer(id, ""), `"}]}}`))
			for n := number(args, "bytes", 100<<20, 1<<30); n > 0 && r.Context().Err() == nil; n -= 1 << 20 {
				_, _ = io.WriteString(z, strings.Repeat("x", min(n, 1<<20)))
			}
			_, _ = io.WriteString(z, `"}]}}`)
			_ = z.Close()
		}},
		{entry{"http_session_swap", "Answers with another session id in its header", ""}, func(w http.ResponseWriter, r *http.Request, id string, args []byte) {
			w.Header().Set("Mcp-Session-Id", "somebody-else")
			headers("application/json")(w, r, id, args)
		}},
		{entry{"sse_torture", "Answers in an event stream with everything that the format allows, and some that it does not", ""}, func(w http.ResponseWriter, _ *http.Request, id string, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			first, second, _ := strings.Cut(answer(id, "in two lines"), `"result"`)
			_, _ = io.WriteString(w, "\ufeff: comment\r\n\r\nretry: 99999999999999999999\nid: \x1b[2J\nid: a\x00b\nevent: unknown\ndata: ignored?\n\nevent\ndata\n\ndata:\n\n"+
				"nonsense: field\ndata: "+first+"\rdata: "+`"result"`+second+"\r\n\r\ndata: "+answer(id, "again")+"\n\ndata: {unfinished")
		}},
	}
}

// Wrap puts the broken tools in front of the agent's HTTP handler. They need no session and ask nobody who the caller is.
func (s *Server) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/mcp") {
			next.ServeHTTP(w, r)
			return
		}
		q := fault.Peek(w, r)
		if q.Tool == "" || q.ID == nil {
			next.ServeHTTP(w, r)
			return
		}
		args := jsonrpc.Get(q.Params, "arguments")
		if do := wireTool(q.Tool); do != nil {
			do(r.Context(), s, &overHTTP{w: w, events: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}, string(q.ID), args)
			return
		}
		for _, d := range httpTools() {
			if d.name == q.Tool {
				d.do(w, r, string(q.ID), args)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// overHTTP answers one POST: with an event stream if the client takes one, else with a JSON body.
type overHTTP struct {
	w      http.ResponseWriter
	events bool
	begun  bool
	inside bool // within an event that bytes began
}

func (h *overHTTP) begin() {
	if h.begun {
		return
	}
	h.begun = true
	kind := "application/json"
	if h.events {
		kind = "text/event-stream"
	}
	h.w.Header().Set("Content-Type", kind)
}

func (h *overHTTP) message(frame string) {
	h.begin()
	if h.events {
		frame = "event: message\ndata: " + frame + "\n\n"
	}
	h.put(frame)
}

func (h *overHTTP) bytes(b string) {
	h.begin()
	if h.events && !h.inside && strings.HasPrefix(b, "{") {
		b = "data: " + b
		h.inside = true
	}
	h.put(b)
}

func (h *overHTTP) put(b string) {
	_, _ = io.WriteString(h.w, b) // a client that is gone misses nothing
	_ = http.NewResponseController(h.w).Flush()
}

func (h *overHTTP) end() { h.put("\n\n") }

func (h *overHTTP) hangUp() { panic(http.ErrAbortHandler) }
