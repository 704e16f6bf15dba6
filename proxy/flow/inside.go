package flow

import "context"

type insider struct{}

// Inside returns a context for requests that the router makes to itself on behalf of a caller whom it knows already, "" for
// anybody. It cannot come from outside.
func Inside(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, insider{}, principal)
}

// Insider is the caller that Inside named; false for a request that came from outside.
func Insider(ctx context.Context) (principal string, ok bool) {
	principal, ok = ctx.Value(insider{}).(string)
	return principal, ok
}
