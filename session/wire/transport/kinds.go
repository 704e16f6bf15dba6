package transport

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// Options is what transports share, whatever the server. The zero value is usable.
type Options struct {
	// Stderr gets a copy of what child processes write to stderr, nil for none. Writes come from several goroutines.
	Stderr io.Writer
	// GracePeriod is how long child processes get to exit when they are closed.
	GracePeriod GracePeriod
	// Auth is asked for the credentials of a server over HTTP; nil for none but the headers of its configuration. It is asked only for
	// requests to the origin that is configured.
	Auth Authorizer
	// Via is what requests over HTTP go through; nil for the network. The proxy and the certificates of the configuration are not used
	// then. A WebSocket needs one whose answer to the upgrade has a body that can be written to.
	Via http.RoundTripper
	// Trace hears how requests over HTTP find their way, from the look-up of names to the first byte; nil for nobody.
	Trace *httptrace.ClientTrace
	// Exited is told how a child ended whose connection was closed, before Close returns; nil for nobody.
	Exited func(Exit)
}

// table is every kind of transport that a configuration can name, in the order in which help lists them. Memory is not among them: see
// NewMemory and session.Options.Dial. open does no I/O but reading certificates; what is wrong with cfg is an error of Start, so that it is
// reported where all failed connections are.
var table = []struct {
	kind string
	open func(config.Server, Tap, Options) Transport
}{
	{config.Stdio, func(cfg config.Server, tap Tap, o Options) Transport {
		t := newStdio(cfg, tap, o.Stderr, o.GracePeriod)
		t.exited = o.Exited
		return t
	}},
	{config.HTTP, func(cfg config.Server, tap Tap, o Options) Transport {
		t := newHTTP(cfg, tap)
		t.use(o)
		return t
	}},
	{config.SSE, func(cfg config.Server, tap Tap, o Options) Transport {
		t := newSSE(cfg, tap)
		t.use(o)
		return t
	}},
	{config.WS, func(cfg config.Server, tap Tap, o Options) Transport {
		t := newSocket(cfg, tap)
		t.use(o)
		return t
	}},
}

// New makes a transport of one kind to the server of cfg. Nothing is started or sent before Start. An unknown kind is a
// *failure.Error of kind Usage.
func New(kind string, cfg config.Server, tap Tap, o Options) (Transport, error) {
	known := make([]string, 0, len(table)+1)
	for _, t := range table {
		if t.kind == kind && cfg.Launch {
			if err := checkLaunchable(cfg, kind); err != nil {
				return nil, err
			}
			return newLaunched(t.open(cfg, tap, o), cfg, tap, o)
		}
		if t.kind == kind {
			return t.open(cfg, tap, o), nil
		}
		known = append(known, t.kind)
	}
	return nil, &failure.Error{
		Kind: failure.Usage, Stage: "connecting", Message: fmt.Sprintf("unknown transport %q", kind),
		Next: "use " + strings.Join(known, ", ") + " or " + config.Auto,
	}
}

// Kinds lists the kinds of transport to try for a server, in order, at least one. A URL does not say which HTTP transport it is for: Streamable
// HTTP is tried first, and HTTP+SSE where its POST is refused, as the specification has it:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
func Kinds(cfg config.Server) []string {
	switch t := cfg.Transport; {
	case t == "" && cfg.Command != "" && !cfg.Launch:
		return []string{config.Stdio}
	case (t == "" || t == config.Auto) && config.TransportOf(cfg.URL) != config.Auto:
		return []string{config.TransportOf(cfg.URL)}
	case t == "" || t == config.Auto:
		return []string{config.HTTP, config.SSE}
	default:
		return []string{t}
	}
}
