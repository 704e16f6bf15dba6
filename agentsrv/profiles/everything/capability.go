package everything

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// capability is what a client must have declared to be asked something.
type capability string

const (
	elicitation capability = "elicitation"
	browsing    capability = "elicitation.url"
	sampling    capability = "sampling"
	roots       capability = "roots"
)

// hasCapability reports whether the client can be asked: by what the request itself says in the modern era, by what
// initialize said in the legacy one.
func hasCapability(ctx context.Context, c capability) bool {
	var have mcp.ClientCapabilities
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientCapabilities != nil {
			have = *info.ClientCapabilities
		}
	} else if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		have = s.GetClientCapabilities()
	}
	switch c {
	case elicitation:
		return have.Elicitation != nil
	case browsing:
		return have.Elicitation != nil && have.Elicitation.URL != nil
	case sampling:
		return have.Sampling != nil
	case roots:
		return have.Roots != nil
	}
	return false
}

// require refuses a call whose client cannot be asked what it takes. In the modern era that is error -32021 naming what
// is missing (SEP-2575), before it a tool error; both nil means go on.
func require(ctx context.Context, want ...capability) (*mcp.CallToolResult, error) {
	missing := map[string]any{}
	var names []string
	for _, c := range want {
		if hasCapability(ctx, c) {
			continue
		}
		names = append(names, string(c))
		outer, inner, nested := strings.Cut(string(c), ".")
		if missing[outer] = struct{}{}; nested {
			missing[outer] = map[string]any{inner: struct{}{}}
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	message := fmt.Sprintf("the client does not declare %s, which this needs; declare it, or call another tool", strings.Join(names, " and "))
	if !server.IsModernRequest(ctx) {
		return mcp.NewToolResultError(message), nil
	}
	data, err := json.Marshal(map[string]any{"kind": "missing_client_capability", "requiredCapabilities": missing})
	if err != nil {
		return nil, fmt.Errorf("encode the missing capabilities: %w", err)
	}
	return nil, &jsonrpc.Error{Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: message, Data: data}
}
