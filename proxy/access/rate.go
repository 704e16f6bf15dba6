package access

import (
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/limit"
)

// maxMeters bounds how many pairs of a caller and an agent are counted at once.
const maxMeters = 10_000

// Rates limits the requests a minute of each caller to each agent, by Route.RateLimit, in a sliding window.
// Notifications and answers are not counted, since no answer could report that they were refused. Counts survive a
// change of the limit.
type Rates struct{ limiter *limit.Limiter }

// NewRates makes Rates.
func NewRates() *Rates { return &Rates{limit.New(maxMeters)} }

// Middleware refuses requests above the limit with -32002 and a Retry-After.
func (r *Rates) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		if c.Route == nil || c.Route.RateLimit == 0 || c.Env.Kind != jsonrpc.Request && c.R.Method != http.MethodGet {
			next(c)
			return
		}
		if f := r.limiter.Take(c.Agent+"\x00"+c.Principal, c.Route.RateLimit); f != nil {
			if c.R.Method == http.MethodGet {
				f.Status = http.StatusTooManyRequests
			}
			c.Refuse(f)
			return
		}
		next(c)
	}
}
