package aggregate

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// withoutEra takes out of params what only the modern era knows: who asks, and how, in each request.
var withoutEra = []jsonrpc.Change{
	jsonrpc.Delete("_meta", mcp.MetaKeyProtocolVersion), jsonrpc.Delete("_meta", mcp.MetaKeyClientCapabilities),
	jsonrpc.Delete("_meta", mcp.MetaKeyClientInfo), jsonrpc.Delete("_meta", mcp.MetaKeyLogLevel),
}

// toLegacy takes out of a result of the modern era what that of the legacy one does not have. One that is something else than
// complete stays as it is: leaving out that it is would not make it complete.
func toLegacy(method string, result []byte) []byte {
	if kind := jsonrpc.GetString(result, "resultType"); kind != "complete" {
		return result
	}
	changes := []jsonrpc.Change{jsonrpc.Delete("resultType"), jsonrpc.Delete("ttlMs"), jsonrpc.Delete("cacheScope")}
	if method != string(mcp.MethodResourcesRead) {
		changes = changes[:1]
	}
	result, _ = jsonrpc.Update(result, changes...) // was scanned
	return result
}

// toModern adds to a result of the legacy era what clients of the modern one expect.
func toModern(method string, result []byte) []byte {
	if jsonrpc.Get(result, "resultType") != nil {
		return result
	}
	changes := []jsonrpc.Change{
		jsonrpc.Set([]byte(`"complete"`), "resultType"), jsonrpc.Set([]byte("0"), "ttlMs"), jsonrpc.Set([]byte(`"private"`), "cacheScope"),
	}
	switch mcp.MCPMethod(method) {
	case mcp.MethodResourcesRead, mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList:
	default:
		changes = changes[:1]
	}
	result, _ = jsonrpc.Update(result, changes...) // was scanned
	return result
}

// replace is a text that was scanned with another value where the path leads to, if it leads anywhere.
func replace(text, value []byte, path ...string) []byte {
	text, _ = jsonrpc.Update(text, jsonrpc.Replace(value, path...))
	return text
}
