package rpc

import "context"

type tagKey struct{}

// WithTag makes tag what CausedBy gives for the requests of the server that a call with this context causes.
func WithTag(ctx context.Context, tag any) context.Context {
	return context.WithValue(ctx, tagKey{}, tag)
}

// CausedBy is the Tag of the call that caused a request of the server; nil where that is not known. ctx is what Options.Serve
// got.
func CausedBy(ctx context.Context) any { return ctx.Value(tagKey{}) }
