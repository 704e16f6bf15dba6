package manage

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// operation is an operation. Those that change nothing can be requested with GET.
type operation struct {
	name  string
	reads bool
	do    func(s *Server, ctx context.Context, body []byte) (answer []byte, err error)
}

var operations = []operation{
	{"RegisterMcpServer", false, (*Server).register},
	{"ConnectMcpServer", false, (*Server).connect},
	{"DisconnectMcpServer", false, (*Server).disconnect},
	{"ListMcpServers", true, (*Server).list},
	{"GetMcpTools", true, (*Server).getTools},
	{"StartMcpOAuth", false, (*Server).startLogin},
	{"CompleteMcpOAuth", false, (*Server).completeLogin},
}

func operationNames() string {
	var names []string
	for _, v := range operations {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// bodies limits request bodies.
var bodies = ingress.Limits{Body: 1 << 20, Time: 30 * time.Second}

// serve handles one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	if isGRPC(r) {
		g, err := s.grpc()
		if err != nil { // of a file that is part of the program
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		g.ServeHTTP(w, r)
		return
	}
	answer, err := s.dispatch(w, r)
	status := http.StatusOK
	if err != nil {
		f := s.refusal(err)
		status, answer = f.status, slices.Concat([]byte(`{"error":`), f.e.JSON(), []byte("}"))
	}
	w.Header().Set("Cache-Control", "no-store")
	ingress.WriteJSON(w, status, append(answer, '\n'))
}

// refusal gives an error of an operation its status.
func (s *Server) refusal(err error) refusal {
	f := refusalOf(err)
	if s.life.Err() != nil && f.e.Kind == failure.Interrupted {
		f = refusal{&failure.Error{Kind: failure.Interrupted, Message: "the router is stopping"}, http.StatusServiceUnavailable}
	}
	return f
}

func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	i := slices.IndexFunc(operations, func(v operation) bool { return v.name == name })
	if i < 0 {
		return nil, usageError(http.StatusNotFound, "unknown operation %q; the operations are %s", clip(name), operationNames())
	}
	v := operations[i]
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
		return nil, usageError(http.StatusMethodNotAllowed, "%s must be requested with %s", v.name, allow)
	}
	// The media type does not matter, since web pages cannot reach the socket, and curl -d sends that of a form.
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
		return nil, usageError(http.StatusBadRequest, "the body is not JSON: %v", err)
	}
	if body[0] != '{' {
		return nil, usageError(http.StatusBadRequest, "the body must be a JSON object")
	}
	if err := ingress.Unique("the body", body); err != nil {
		return nil, err
	}
	return v.do(s, r.Context(), body)
}

// optionalName reads a body with the name of a server; "" if it has none.
func optionalName(body []byte) (name string, err error) {
	walk := jsonrpc.Members(body, func(key string, v []byte) bool {
		var ok bool
		switch name, ok = jsonrpc.String(v); {
		case key != "name":
			err = usageError(http.StatusBadRequest, "unknown member %q; the only one is name", clip(key))
		case !ok || name == "":
			err = usageError(http.StatusBadRequest, "name must be the name of a server")
		}
		return err == nil
	})
	return name, errors.Join(err, walk)
}

// requiredName reads a body with the name of a server.
func requiredName(body []byte) (string, error) {
	name, err := optionalName(body)
	if err == nil && name == "" {
		err = usageError(http.StatusBadRequest, `name of the server missing: {"name":"…"}`)
	}
	return name, err
}
