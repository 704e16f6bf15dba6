package kit

import (
	"context"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Required is the reason that a required parameter is invalid for when it is missing or empty.
const Required = "Field required"

// Invalid is the failure of a request whose parameter field cannot be used for that reason.
func Invalid(field, reason string) *jsonrpc.RequestError {
	says := field + ": " + reason
	if reason == Required {
		says = field + " is required"
	}
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: %s", says).With("field", field).With("reason", reason)
}

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
