package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Defaults of Options.
const (
	DefaultPort         = 8088
	DefaultRoutes       = "routing.json"
	DefaultDrainTimeout = 10 * time.Second
	DefaultMaxRequest   = 10 << 20
)

// Options configures a router. The zero value serves the routes of routing.json in the working directory, if the file
// exists, on a free port of 127.0.0.1.
type Options struct {
	Name    string // default "mcphud-router"; agents are introduced as NAME-proxy:AGENT
	Version string // default "1.0.0"

	Host string // to listen at, a name or an address; default 127.0.0.1. Beyond this machine Check demands tokens
	Port int    // 0 is a free one
	// RoutesPort lets the port in the routes file, if there is one, win over Port.
	RoutesPort bool
	Hosts      []string // other values of Host that requests may have, such as those of a load balancer in front
	TLSCert    string   // files of a certificate and its key, both or none
	TLSKey     string

	Routes     string           // the file, or a folder of files; default routing.json, or none where there are keys
	RoutesMust bool             // whether it has to be there at the start
	Keys       routes.Keys      // routes after those of the file; nil for none
	Cluster    *cluster.Cluster // what the router shares with others, which outlives it; nil for nothing
	Tokens     string           // the file of tokens, in place of the one that the routes name; "" for none
	Poll       time.Duration    // how often files are looked at where the system reports no change

	SessionKey string // the file of session keys, in place of the one that the routes name; "" for none

	Audit   audit.Options   // File "" writes nothing down; Logger is set by the router
	Pins    string          // the file that remembers what agents' tools are; "" remembers while the router runs
	OTLP    string          // the base URL of a collector; "" leaves it to OTEL_EXPORTER_OTLP_ENDPOINT and its like
	Breaker breaker.Options // Logger is set by the router

	DrainDelay   time.Duration   // between Drain and its end, in which balancers notice; default 0
	DrainTimeout time.Duration   // how long Close lets running calls finish, default 10 s
	BodyTimeout  time.Duration   // for the body of a request to arrive, default 30 s
	WriteTimeout time.Duration   // for a client to read what is written to it, default 30 s
	MaxRequest   int64           // bytes of the largest request body, default 10 MiB
	Sessions     sessions.Limits // Ended is set by the router
	SessionTTL   time.Duration   // life of a sealed session id, default 24 h

	// WebSocket and SSE are whether clients may use WebSockets, and HTTP+SSE of 2024-11-05; nil leaves it to the routes.
	WebSocket, SSE *bool

	// Prefix is which tools and prompts of all agents have their agent's name in front; "" leaves it to the routes.
	Prefix toolset.Prefix

	// Login is how to log in at agents whose routes say so; the zero value keeps logins in memory.
	Login auth.Options
	// Trusted is for a router whose only client is the process that started it: no tokens are required.
	Trusted bool
	// Manage lets processes of this user register servers, on a socket in a folder that only this user can open.
	Manage bool
	// Remote lets whoever has a certificate register servers as well; it goes with Manage. Addr "" is for nobody.
	Remote manage.Remote

	// Outer are middlewares that see each request to an agent before its body is read, outermost first, after the router's own: the caller is
	// known. Inner see it once its envelope is in order and its route is known, and after lists, limits and rights have let it pass. Wrap puts
	// something around the way to an agent, made once for each of its upstreams.
	Outer, Inner []flow.Middleware
	Wrap         []flow.Wrap
	// SideChannel gets what processes of commands do that no client sees, see bridge.Options; nil for nobody.
	SideChannel func(e journal.Entry, body []byte)
	// Bridge makes the way to an agent that is a process, in place of the router's own.
	Bridge func(*routes.Route) (flow.Upstream, error)
	// Handlers are further paths, exact ones or with a trailing slash for all below; "/mcp" and "/" are such paths. They are
	// behind the guard against other origins, and nothing else.
	Handlers map[string]http.Handler

	Logger *slog.Logger // nil discards
}

// complete sets the defaults and checks the rest.
func (o *Options) complete() error {
	o.Name = cmp.Or(o.Name, "mcphud-router")
	o.Version = cmp.Or(o.Version, "1.0.0")
	o.Host = cmp.Or(o.Host, "127.0.0.1")
	if o.Keys == nil {
		o.Routes = cmp.Or(o.Routes, DefaultRoutes)
	}
	o.DrainTimeout = cmp.Or(o.DrainTimeout, DefaultDrainTimeout)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	o.MaxRequest = cmp.Or(o.MaxRequest, DefaultMaxRequest)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Login.Store == nil {
		o.Login.Store = auth.NewMemory()
	}
	switch {
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("port %d is not between 0 and 65535", o.Port)
	case o.DrainTimeout < 0 || o.DrainDelay < 0 || o.BodyTimeout < 0 || o.WriteTimeout < 0 || o.MaxRequest < 0:
		return errors.New("a timeout or size is negative")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("a TLS certificate and its key must be given together")
	case o.Remote.Addr != "" && !o.Manage:
		return errors.New("there is nothing to manage at the management address")
	}
	return o.Remote.Check()
}

// Check reports what makes a table of routes unfit to be served with these options, nil if nothing is known to. It
// starts nothing.
func (o Options) Check(t *routes.Table) error {
	if err := o.complete(); err != nil {
		return err
	}
	if !listen.Loopback(o.Host) && o.Tokens == "" && t.Tokens == "" {
		return fmt.Errorf("host %s serves other machines without authentication: name a token file, or listen on loopback", o.Host)
	}
	return nil
}
