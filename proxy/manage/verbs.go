package manage

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// verb is what can be asked for. GET asks for those that change nothing.
type verb struct {
	name  string
	reads bool
	do    func(s *Server, ctx context.Context, body []byte) (answer []byte, err error)
}

var verbs = []verb{
	{"RegisterMcpServer", false, (*Server).register},
	{"ConnectMcpServer", false, (*Server).connect},
	{"DisconnectMcpServer", false, (*Server).disconnect},
	{"ListMcpServers", true, (*Server).list},
	{"GetMcpTools", true, (*Server).getTools},
}

func verbNames() string {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// bodies bounds what managers send.
var bodies = ingress.Limits{Body: 1 << 20, Time: 30 * time.Second}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	answer, err := s.ask(w, r)
	status := http.StatusOK
	if err != nil {
		f := refused(err)
		if s.life.Err() != nil && f.e.Kind == failure.Interrupted {
			f = refusal{&failure.Error{Kind: failure.Interrupted, Message: "the router is stopping"}, http.StatusServiceUnavailable}
		}
		status, answer = f.status, slices.Concat([]byte(`{"error":`), f.e.JSON(), []byte("}"))
	}
	w.Header().Set("Cache-Control", "no-store")
	ingress.WriteJSON(w, status, append(answer, '\n'))
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return nil, usage(http.StatusNotFound, "there is no verb %q; there are %s", clip(name), verbNames())
	}
	v := verbs[i]
	switch {
	case r.Method == http.MethodGet && v.reads:
		if !r.URL.Query().Has("name") {
			return v.do(s, r.Context(), []byte("{}"))
		}
		return v.do(s, r.Context(), slices.Concat([]byte(`{"name":`), jsonrpc.Quote(r.URL.Query().Get("name")), []byte("}")))
	case r.Method != http.MethodPost:
		allow := "POST"
		if v.reads {
			allow = "GET, POST"
		}
		w.Header().Set("Allow", allow)
		return nil, usage(http.StatusMethodNotAllowed, "%s is asked for with %s", v.name, allow)
	}
	// What a body is called does not matter where no web page can send one, and curl -d calls it a form.
	r.Header.Set("Content-Type", ingress.TypeJSON)
	body, err := bodies.Read(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		return nil, err
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		body = []byte("{}")
	}
	if err := jsonrpc.Valid(body); err != nil {
		return nil, usage(http.StatusBadRequest, "the body is not JSON: %v", err)
	}
	if body[0] != '{' {
		return nil, usage(http.StatusBadRequest, "the body must be a JSON object")
	}
	if err := ingress.Unique("the body", body); err != nil {
		return nil, err
	}
	return v.do(s, r.Context(), body)
}

// named reads a body that says which server is meant; "" where it says none.
func named(body []byte) (name string, err error) {
	walk := jsonrpc.Members(body, func(key string, v []byte) bool {
		var ok bool
		switch name, ok = jsonrpc.String(v); {
		case key != "name":
			err = usage(http.StatusBadRequest, "%q is not known here; the body may have a name and nothing else", clip(key))
		case !ok || name == "":
			err = usage(http.StatusBadRequest, "name must be the name of a server")
		}
		return err == nil
	})
	return name, errors.Join(err, walk)
}

// oneNamed is named where a server has to be meant.
func oneNamed(body []byte) (string, error) {
	name, err := named(body)
	if err == nil && name == "" {
		err = usage(http.StatusBadRequest, `say which server: {"name":"…"}`)
	}
	return name, err
}
