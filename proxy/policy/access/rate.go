package access

import (
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/limit"
)

// maxMeters bounds how many pairs of a caller and an agent are counted at once.
const maxMeters = 10_000

// Rates limits the requests a minute of each caller to each agent, by Route.RateLimit, in a sliding window.
// Notifications and answers are not counted, since no answer could report that they were refused. Counts survive a
// change of the limit.
type Rates struct {
	limiter *limit.Limiter
	shared  Shared
}

// Shared is how routers that count together hear of each other's requests. The zero value is for one that counts by itself.
type Shared struct {
	Key      func(agent, principal string) string // what a caller's requests to an agent are counted under; the same at all routers
	Admitted func(key string, limit int)          // tells the others of one request
}

// NewRates makes Rates.
func NewRates(s Shared) *Rates { return &Rates{limit.New(maxMeters), s} }

// Add counts n requests that other routers admitted.
func (r *Rates) Add(key string, n int) { r.limiter.Add(key, n) }

// Middleware refuses requests above the limit with -32002 and a Retry-After.
func (r *Rates) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		if c.Route == nil || c.Route.RateLimit == 0 || c.Env.Kind != jsonrpc.Request && c.R.Method != http.MethodGet {
			next(c)
			return
		}
		key := c.Agent + "\x00" + c.Principal
		if r.shared.Key != nil {
			key = r.shared.Key(c.Agent, c.Principal)
		}
		if f := r.limiter.Take(key, c.Route.RateLimit); f != nil {
			if c.R.Method == http.MethodGet {
				f.Status = http.StatusTooManyRequests
			}
			c.Refuse(f)
			return
		}
		if r.shared.Admitted != nil {
			r.shared.Admitted(key, c.Route.RateLimit)
		}
		next(c)
	}
}
