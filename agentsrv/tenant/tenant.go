// Package tenant says whose data a request may see, and how much one tenant may ask for: who the caller is (static
// bearer token or JWT), which tenant the request is about, whether there is such a tenant, and the limits on tool calls.
package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/limit"
)

// field is how a request names its tenant: a member of a tool's arguments, of _meta, and a claim of a JWT.
const field = "tenant_id"

// maxMeters bounds how many tenants are counted at once.
const maxMeters = 10_000

// Limits are what one tenant may do. 0 is unlimited.
type Limits struct {
	PerMinute  int // tool calls in any minute
	Concurrent int // tool calls at the same time, those that wait in the queue included
}

// Options say which tenants there are and what each may do.
type Options struct {
	Limits Limits
	// Known are the configured tenants; kit.DefaultTenant is always one.
	Known []string
	// AutoCreate makes every well-formed id a tenant as soon as somebody names it.
	AutoCreate bool
	// Registry remembers tenants that were created, across restarts; nil remembers none.
	Registry *Registry
	// Seen gets the tenant of each request, for spans and logs; may be nil.
	Seen   func(ctx context.Context, tenant string)
	Logger *slog.Logger
}

// Tenants resolves and limits. It is safe for concurrent use, and starts nothing.
type Tenants struct {
	o       Options
	known   map[string]bool
	limiter *limit.Limiter
}

// New makes Tenants; it fails for a configured id that is not of the form of one.
func New(o Options) (*Tenants, error) {
	t := &Tenants{o: o, known: map[string]bool{kit.DefaultTenant: true}, limiter: limit.New(maxMeters)}
	for _, id := range o.Known {
		if !ValidID(id) {
			return nil, fmt.Errorf("tenant %.140q: an id %s", id, idRule)
		}
		t.known[id] = true
	}
	if o.Logger == nil {
		t.o.Logger = slog.New(slog.DiscardHandler)
	}
	return t, nil
}

// Active is how many tenants called a tool lately, at most 10,000.
func (t *Tenants) Active() int { return t.limiter.Active() }

// Middleware puts the request's tenant into the context, for kit.TenantOf, and counts its tool calls per minute. A tenant
// that the token does not cover is answered like one that does not exist, so that nobody learns which do.
func (t *Tenants) Middleware() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			call := x.Method == "tools/call"
			id, bad := namedTenant(x, call)
			if bad != nil {
				if bad.Data["field"] == field && call {
					return kit.Refuse(bad, x.Modern, x.Version, true)
				}
				return nil, bad
			}
			if claim := x.Caller.Tenant; claim != "" {
				if id != "" && id != claim {
					return nil, notFound()
				}
				id = claim
			}
			if id == "" {
				id = kit.DefaultTenant
			}
			if err := t.admit(ctx, id); err != nil {
				return nil, err
			}
			if id != kit.DefaultTenant {
				ctx = kit.WithTenant(ctx, id)
			}
			if t.o.Seen != nil {
				t.o.Seen(ctx, id)
			}
			if call && t.o.Limits.PerMinute > 0 {
				if bad := t.limiter.Take(id, t.o.Limits.PerMinute); bad != nil {
					return nil, bad
				}
			}
			return next(ctx, x)
		}
	}
}

// Slots is the middleware that bounds a tenant's calls at the same time. It belongs behind what turns calls into tasks, so
// that a task counts until it ends, and before the queue, so that a call that waits there counts too.
func (t *Tenants) Slots() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			if x.Method != "tools/call" || t.o.Limits.Concurrent <= 0 {
				return next(ctx, x)
			}
			m, bad := t.limiter.Acquire(kit.TenantOf(ctx), t.o.Limits.Concurrent)
			if bad != nil {
				return nil, bad
			}
			defer t.limiter.Release(m)
			return next(ctx, x)
		}
	}
}

// admit makes sure that there is such a tenant.
func (t *Tenants) admit(ctx context.Context, id string) error {
	if t.known[id] {
		return nil
	}
	if t.o.Registry == nil {
		if t.o.AutoCreate {
			return nil
		}
		return notFound()
	}
	known, err := t.o.Registry.isKnown(ctx, id, t.o.AutoCreate)
	switch {
	case err != nil && t.o.AutoCreate:
		// Nothing is refused for want of a note about it.
		t.o.Logger.Warn("cannot save a tenant", "error", err)
		return nil
	case err != nil:
		return fmt.Errorf("look up the tenant: %w", err)
	case !known && !t.o.AutoCreate:
		return notFound()
	}
	return nil
}

func notFound() *jsonrpc.RequestError {
	return jsonrpc.Errorf(jsonrpc.KindTenantNotFound, "Tenant not found")
}

// namedTenant is the tenant that the request itself names, "" if none: in the arguments of a tool, else in _meta.
func namedTenant(x *front.Exchange, call bool) (string, *jsonrpc.RequestError) {
	if x.Params == nil {
		return "", nil
	}
	var c kit.Call
	if call {
		var bad *jsonrpc.RequestError
		if c, bad = kit.ParseCall(x.Params); bad != nil {
			return "", bad
		}
	} else if err := jsonrpc.Members(x.Params, func(key string, value []byte) bool {
		if key == "_meta" && value[0] == '{' {
			c.Meta = value
		}
		return true
	}); err != nil {
		return "", nil // malformed params are for the engine to refuse
	}
	id, err := member(c.Arguments)
	if err == nil && id == "" {
		id, err = member(c.Meta)
	}
	if err != nil {
		return "", kit.Invalid(field, err.Error())
	}
	return id, nil
}

// member reads the one tenant id of an object, "" if it has none.
func member(obj []byte) (id string, err error) {
	if obj == nil {
		return "", nil
	}
	seen := false
	syntax := jsonrpc.Members(obj, func(key string, value []byte) bool {
		switch {
		case key != field && !strings.EqualFold(key, field):
			return true
		case key != field:
			// A decoder that ignores case would take it for the tenant, another not.
			err = errors.New("must be written in lower case")
		case seen:
			err = errors.New("is given more than once")
		case value[0] != '"':
			err = errors.New("must be a string")
		default:
			seen = true
			if id, _ = jsonrpc.String(value); !ValidID(id) {
				err = errors.New(idRule)
			}
		}
		return err == nil
	})
	return id, errors.Join(err, syntax)
}
