package kit

import (
	"context"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Tenant is the tenant that a tool with a tenant_id argument works for. A caller whose token is for one tenant gets no
// other; for it, others do not exist.
func Tenant(ctx context.Context, argument string) (string, error) {
	if argument == "" {
		return "", Invalid("tenant_id", Required)
	}
	if claim := Caller(ctx).Tenant; claim != "" && claim != argument {
		return "", jsonrpc.Errorf(jsonrpc.KindTenantNotFound, "Tenant not found").With("field", "tenant_id")
	}
	return argument, nil
}
