package ingress

import "github.com/mark3labs/mcp-go/mcp"

// ClientCapabilities are the capabilities that a client declares to be asked for something, sorted.
var ClientCapabilities = []string{"elicitation", "roots", "sampling"}

// CapabilityFor is the one of ClientCapabilities that a client must have declared for a request of this method, "" for a
// method that needs none.
func CapabilityFor(method string) string {
	switch mcp.MCPMethod(method) {
	case mcp.MethodElicitationCreate:
		return "elicitation"
	case mcp.MethodListRoots:
		return "roots"
	case mcp.MethodSamplingCreateMessage:
		return "sampling"
	}
	return ""
}
