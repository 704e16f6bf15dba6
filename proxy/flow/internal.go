package flow

import "context"

type internalKey struct{}

// WithInternalCaller returns a context for requests that the router makes to itself on behalf of a caller whom it has
// authenticated already, "" for anybody. No request from outside can carry it.
func WithInternalCaller(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, internalKey{}, principal)
}

// InternalCaller is the principal of WithInternalCaller; false for a request that came from outside.
func InternalCaller(ctx context.Context) (principal string, ok bool) {
	principal, ok = ctx.Value(internalKey{}).(string)
	return principal, ok
}
