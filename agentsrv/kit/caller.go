package kit

import "context"

// DefaultTenant is the tenant of a request that names none.
const DefaultTenant = "default"

// Identity is who sent a request. The zero value is a caller that nobody asked for a token.
type Identity struct {
	Principal string // name of the token, "" if none was asked for; sessions are bound to it
	Tenant    string // the tenant that the token is for, "" for any
	User      string // the user that the token is for, "" if it says none
	Session   string // first 8 hex digits of the SHA-256 of the session id, "" outside sessions
	Trace     string // trace id, 32 hex digits, "" if the request is not traced
}

type (
	callerKey struct{}
	tenantKey struct{}
)

// WithCaller says whose request ctx belongs to.
func WithCaller(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

// Caller is whose request ctx belongs to, zero if that is unknown.
func Caller(ctx context.Context) Identity {
	id, _ := ctx.Value(callerKey{}).(Identity)
	return id
}

// WithTenant says which tenant's data the request may see.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

// TenantOf is the tenant whose data the request may see: what WithTenant said, else the token's, else DefaultTenant.
func TenantOf(ctx context.Context) string {
	if t, ok := ctx.Value(tenantKey{}).(string); ok && t != "" {
		return t
	}
	if t := Caller(ctx).Tenant; t != "" {
		return t
	}
	return DefaultTenant
}
