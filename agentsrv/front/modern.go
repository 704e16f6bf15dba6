package front

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// era decides by which rules a request is served, and checks what the modern ones demand of its envelope. A request is
// modern when its _meta or its header names 2026-07-28 or later.
func (s *Server) era(x *Exchange, m meta) error {
	declared, _ := jsonrpc.String(m.version)
	header := ""
	if x.Header != nil {
		if len(x.Header.Values(mcp.HeaderProtocolVersion)) > 1 {
			return jsonrpc.Fail(jsonrpc.FailInvalid, "%s is given twice", mcp.HeaderProtocolVersion)
		}
		header = x.Header.Get(mcp.HeaderProtocolVersion)
	}
	known := header == "" || mcp.IsValidProtocolVersion(header)
	if !mcp.IsModernProtocol(declared) && (!mcp.IsModernProtocol(header) || !known) {
		if !known && x.Method != string(mcp.MethodInitialize) {
			return jsonrpc.Fail(jsonrpc.FailInvalid, "Unsupported protocol version: %.40s", header).With("supported", mcp.ValidProtocolVersions)
		}
		if header != "" {
			x.Version = header
		}
		return nil
	}
	x.Modern = true
	if x.ID == nil { // notifications carry no _meta
		x.Version = mcp.ProtocolVersion20260728
		return nil
	}
	if x.Header != nil {
		switch {
		case x.Header.Get(mcp.HeaderLastEventID) != "":
			return mismatch("Last-Event-ID is not supported in protocol version " + mcp.ProtocolVersion20260728 + ": send the request again, with a new id")
		case header == "":
			return mismatch("the header " + mcp.HeaderProtocolVersion + " is missing; it must equal _meta." + mcp.MetaKeyProtocolVersion)
		case declared == "" || m.version == nil:
			return missingMeta(mcp.MetaKeyProtocolVersion)
		case header != declared:
			return mismatch("the header " + mcp.HeaderProtocolVersion + " does not match _meta." + mcp.MetaKeyProtocolVersion)
		}
	}
	x.Version = declared
	if !mcp.IsValidProtocolVersion(declared) {
		raw, err := json.Marshal(map[string]any{"supported": mcp.ValidProtocolVersions, "requested": declared})
		if err != nil {
			return err
		}
		return &jsonrpc.Error{Code: jsonrpc.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: raw}
	}
	if m.caps == nil || m.caps[0] != '{' {
		return missingMeta(mcp.MetaKeyClientCapabilities)
	}
	if x.Header == nil {
		return nil
	}
	return s.checkHeaders(x)
}

func (s *Server) checkHeaders(x *Exchange) error {
	for _, name := range []string{mcp.HeaderMethod, mcp.HeaderName} {
		if len(x.Header.Values(name)) > 1 {
			return mismatch("the header " + name + " is given twice")
		}
	}
	err := mcp.ValidateStandardHeaders(x.Header.Get, x.Version, mcp.MCPMethod(x.Method), x.Params)
	if err == nil && x.Method == string(mcp.MethodToolsCall) {
		if t := s.o.Engine.GetTool(member(x.Params, "name")); t != nil && mirrored(&t.Tool) {
			err = mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
				v := x.Header.Values(name)
				if len(v) == 0 {
					return "", false
				}
				return v[0], true
			}, &t.Tool, x.Params)
		}
	}
	var bad mcp.HeaderMismatchError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return mismatch(bad.Error())
	}
	return jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: %s", err)
}

// mirrored reports whether a tool may have parameters that travel in headers too; the schema is not decoded for those
// that cannot.
func mirrored(t *mcp.Tool) bool {
	return len(t.RawInputSchema) == 0 || bytes.Contains(t.RawInputSchema, []byte(`x-mcp-header`)) || bytes.Contains(t.RawInputSchema, []byte(`\u`))
}

func mismatch(msg string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeHeaderMismatch, Message: msg, Data: json.RawMessage(`{"kind":"header_mismatch"}`)}
}

func missingMeta(key string) error {
	return jsonrpc.Fail(jsonrpc.FailParams, "Invalid params: missing or invalid _meta field %s", key).With("field", key).With("reason", "Field required")
}

// isModern reports whether a request without a body comes from a client of the modern era.
func isModern(r *http.Request) bool {
	v := r.Header.Get(mcp.HeaderProtocolVersion)
	return mcp.IsModernProtocol(v) && mcp.IsValidProtocolVersion(v)
}
