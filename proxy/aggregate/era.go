package aggregate

import (
	"bytes"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// eraKeys are members of _meta by which the modern era makes each request say who asks and how.
var eraKeys = []string{mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientCapabilities, mcp.MetaKeyClientInfo, mcp.MetaKeyLogLevel}

// withoutEra takes what only the modern era knows out of params.
func withoutEra(params []byte) []byte {
	start, end, ok := jsonrpc.Find(params, "_meta")
	if !ok {
		return params
	}
	return jsonrpc.Splice(params, jsonrpc.Edit{Start: start, End: end, With: without(params[start:end], eraKeys...)})
}

// without is an object that was scanned, without some of its members.
func without(obj []byte, keys ...string) []byte {
	out, left := []byte("{"), false
	_ = jsonrpc.Members(obj, func(key string, v []byte) bool {
		if slices.Contains(keys, key) {
			left = true
			return true
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, jsonrpc.Quote(key)...), ':'), v...)
		return true
	})
	if !left {
		return obj
	}
	return append(out, '}')
}

// legacied takes out of a result of the modern era what that of the legacy one does not have. One that is something else than
// complete stays as it is: leaving out that it is would not make it complete.
func legacied(method string, result []byte) []byte {
	if kind := jsonrpc.GetString(result, "resultType"); kind != "complete" {
		return result
	}
	if method == string(mcp.MethodResourcesRead) {
		return without(result, "resultType", "ttlMs", "cacheScope")
	}
	return without(result, "resultType")
}

// modernized adds to a result of the legacy era what clients of the modern one expect.
func modernized(method string, result []byte) []byte {
	add := []byte(`"resultType":"complete"`)
	if method == string(mcp.MethodResourcesRead) {
		add = append(add, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	at := bytes.IndexByte(result, '{') + 1
	if at == 0 {
		return result
	}
	known := false
	empty := true
	_ = jsonrpc.Spans(result, func(s jsonrpc.Span) bool { // was scanned
		empty = false
		known = known || s.Key == "resultType"
		return !known
	})
	if known {
		return result
	}
	if !empty {
		add = append(add, ',')
	}
	return jsonrpc.Splice(result, jsonrpc.Edit{Start: at, End: at, With: add})
}
