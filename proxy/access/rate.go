package access

import (
	"net/http"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/limit"
)

// maxMeters bounds how many pairs of a caller and an agent are counted at once.
const maxMeters = 10_000

// Rates holds each caller to the number of requests a minute that a route allows. Notifications and answers are not counted:
// no answer could say that they were refused. A changed limit keeps what was counted.
type Rates struct{ limiter *limit.Limiter }

// NewRates makes Rates.
func NewRates() *Rates { return &Rates{limit.New(maxMeters)} }

// Middleware refuses what is above a limit with -32002 and says when to try again.
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
