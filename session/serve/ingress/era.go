package ingress

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Era decides by which rules a request is served, and checks what the modern ones demand of its envelope. A request is
// modern when its _meta or its header names 2026-07-28 or later, or its _meta a version that does not exist. header is nil
// over stdio, id for a notification. version is the one that the request names, "" if it names none. The error is a
// *jsonrpc.RequestError or a *jsonrpc.Error.
func Era(header http.Header, method string, id, params []byte, m Params) (modern bool, version string, err error) {
	declared, _ := jsonrpc.String(m.Version)
	if len(header.Values(mcp.HeaderProtocolVersion)) > 1 {
		return false, "", jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "%s is given twice", mcp.HeaderProtocolVersion)
	}
	said := header.Get(mcp.HeaderProtocolVersion)
	known := said == "" || mcp.IsValidProtocolVersion(said)
	if !mcp.IsModernProtocol(declared) && (declared == "" || mcp.IsValidProtocolVersion(declared)) && (!mcp.IsModernProtocol(said) || !known) {
		if !known && method != string(mcp.MethodInitialize) {
			return false, "", jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Unsupported protocol version: %.40s", said).With("supported", mcp.ValidProtocolVersions)
		}
		return false, said, nil
	}
	if id == nil { // notifications carry no _meta
		return true, mcp.ProtocolVersion20260728, nil
	}
	if header != nil {
		switch {
		case header.Get(mcp.HeaderLastEventID) != "":
			return true, "", Mismatch("Last-Event-ID is not supported in protocol version " + mcp.ProtocolVersion20260728 + ": send the request again, with a new id")
		case said == "":
			return true, "", Mismatch("the header " + mcp.HeaderProtocolVersion + " is missing; it must equal _meta." + mcp.MetaKeyProtocolVersion)
		case declared == "" || m.Version == nil:
			return true, "", missingMeta(mcp.MetaKeyProtocolVersion)
		case said != declared:
			return true, "", Mismatch("the header " + mcp.HeaderProtocolVersion + " does not match _meta." + mcp.MetaKeyProtocolVersion)
		}
	}
	if !mcp.IsValidProtocolVersion(declared) {
		raw, err := json.Marshal(map[string]any{"kind": "unsupported_version", "supported": mcp.ValidProtocolVersions, "requested": declared})
		if err != nil {
			return true, declared, err
		}
		return true, declared, &jsonrpc.Error{Code: jsonrpc.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: raw}
	}
	if m.Caps == nil || m.Caps[0] != '{' {
		return true, declared, missingMeta(mcp.MetaKeyClientCapabilities)
	}
	if m.Level != nil && !levels(m.Level) {
		return true, declared, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: _meta.%s must be one of debug, info, notice, warning, error, critical, alert, emergency", mcp.MetaKeyLogLevel).
			With("field", "_meta."+mcp.MetaKeyLogLevel)
	}
	return true, declared, standardHeaders(header, declared, method, params)
}

// levels reports whether a value is one of the levels of log messages.
func levels(raw []byte) bool {
	level, _ := jsonrpc.String(raw)
	switch mcp.LoggingLevel(level) {
	case mcp.LoggingLevelDebug, mcp.LoggingLevelInfo, mcp.LoggingLevelNotice, mcp.LoggingLevelWarning, mcp.LoggingLevelError, mcp.LoggingLevelCritical, mcp.LoggingLevelAlert,
		mcp.LoggingLevelEmergency:
		return true
	}
	return false
}

// standardHeaders checks that Mcp-Method and Mcp-Name agree with the body: a proxy before us may have decided by them.
func standardHeaders(header http.Header, version, method string, params []byte) error {
	if header == nil {
		return nil
	}
	for _, name := range []string{mcp.HeaderMethod, mcp.HeaderName} {
		if len(header.Values(name)) > 1 {
			return Mismatch("the header " + name + " is given twice")
		}
	}
	return HeaderError(mcp.ValidateStandardHeaders(header.Get, version, mcp.MCPMethod(method), params))
}

// HeaderError makes a *jsonrpc.Error of what mcp-go's validators found in a request's headers.
func HeaderError(err error) error {
	var bad mcp.HeaderMismatchError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return Mismatch(bad.Error())
	}
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: %s", err)
}

// Mismatch is the error of 2026-07-28 for a header that differs from the body.
func Mismatch(msg string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeHeaderMismatch, Message: msg, Data: json.RawMessage(`{"kind":"header_mismatch"}`)}
}

func missingMeta(key string) error {
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: missing or invalid _meta field %s", key).With("field", key).With("reason", "Field required")
}

// Modern reports whether a request without a body comes from a client of the modern era.
func Modern(r *http.Request) bool {
	v := r.Header.Get(mcp.HeaderProtocolVersion)
	return mcp.IsModernProtocol(v) && mcp.IsValidProtocolVersion(v)
}
