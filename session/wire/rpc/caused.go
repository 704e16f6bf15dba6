package rpc

import (
	"context"
	"time"
)

type (
	// Keys of contexts: of the caller's tag, and of where a request of the server came from.
	tagKey    struct{}
	causesKey struct{}
)

// WithTag makes tag what CausedBy gives for the requests of the server that a call with this context causes.
func WithTag(ctx context.Context, tag any) context.Context {
	return context.WithValue(ctx, tagKey{}, tag)
}

// CausedBy is the Tag of the call that caused a request of the server; nil where that is not known. ctx is what OnServe got.
func CausedBy(ctx context.Context) any { return ctx.Value(tagKey{}) }

// origin is where a request of the server came from: the mux, and the request. The calls that can have caused it are found in it when
// they are asked for, since they end meanwhile.
type origin struct {
	m *Mux
	s *serving
}

// Asking makes the clocks of the calls that can have caused a request of the server stand still until done is called. ctx is what
// OnServe got.
func Asking(ctx context.Context) (done func()) {
	o, ok := ctx.Value(causesKey{}).(origin)
	if !ok {
		return func() {}
	}
	o.m.mu.Lock()
	var all []func()
	for _, p := range o.s.causes {
		all = append(all, p.patience.Asking())
	}
	o.m.mu.Unlock()
	return func() {
		for _, done := range all {
			done()
		}
	}
}

// CauseOf is the one call that can have caused a request of the server; ok is false if there are several, or none. ctx is what
// OnServe got.
func CauseOf(ctx context.Context) (method, target string, started time.Time, ok bool) {
	o, _ := ctx.Value(causesKey{}).(origin)
	if o.m == nil {
		return "", "", time.Time{}, false
	}
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	if len(o.s.causes) != 1 {
		return "", "", time.Time{}, false
	}
	for _, p := range o.s.causes {
		method, target, started = p.spec.Method, p.spec.Target, p.started
	}
	return method, target, started, true
}
