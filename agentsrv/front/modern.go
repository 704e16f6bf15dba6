package front

import (
	"bytes"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// inspect checks the params of a request or a notification, and decides by which era's rules it is served.
func (s *Server) inspect(x *Exchange) error {
	m, err := ingress.Inspect(x.Method, x.Params)
	if err == nil {
		err = ingress.Unique("params.arguments", m.Arguments)
	}
	modern, version, e := ingress.Era(x.Header, x.Method, x.ID, x.Params, m)
	x.Modern, x.Token = modern, m.Token
	if version != "" {
		x.Version = version
	}
	switch {
	case err != nil:
		return err
	case e != nil:
		return e
	case modern && x.ID != nil && x.Header != nil && !x.carried:
		return s.mirroredHeaders(x)
	}
	return nil
}

// mirroredHeaders checks the parameters of a tool that travel in headers too.
func (s *Server) mirroredHeaders(x *Exchange) error {
	if x.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	t := s.o.Engine.GetTool(jsonrpc.GetString(x.Params, "name"))
	if t == nil || !mirrorsHeaders(&t.Tool) {
		return nil
	}
	return ingress.HeaderError(mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		v := x.Header.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}, &t.Tool, x.Params))
}

// mirrorsHeaders reports whether a tool may have parameters that travel in headers too; the schema is not decoded for those
// that cannot.
func mirrorsHeaders(t *mcp.Tool) bool {
	return len(t.RawInputSchema) == 0 || bytes.Contains(t.RawInputSchema, []byte(`x-mcp-header`)) || bytes.Contains(t.RawInputSchema, []byte(`\u`))
}
