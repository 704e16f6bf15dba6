package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// tapHTTP is a reverse proxy for one HTTP server, whose traffic tap sees.
func (a *app) tapHTTP(ctx context.Context, cmd *cobra.Command, server, name string, port int) error {
	for _, flag := range []string{"format", "select", "max-bytes", "journal", "journal-raw", "linear", "filter"} {
		if cmd.Flags().Changed(flag) {
			return failure.UsageError("--"+flag+" does not apply with --http: the traffic is watched from another terminal", "run mcphud tap --"+flag+" in another terminal")
		}
	}
	entry := config.Server{URL: server, Transport: config.HTTP}
	if err := a.Options.Network(&entry); err != nil {
		return err
	}
	network, err := transport.NewNetwork(entry)
	if err != nil {
		return err
	}
	to := network.URL()
	if entry.Insecure {
		entry.Name = server
		a.Note("mcphud: " + cli.Unverified(entry))
	}
	if to.Path == "" {
		to.Path = "/"
	}
	if name == "" {
		name = to.Hostname()
	}
	p, err := tap.Open(tap.Options{Name: name, Kind: tap.Wrapped})
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }() // its socket is gone either way
	lns, err := listen.Listen(ctx, "127.0.0.1", port)
	if err != nil {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "choose another port, or 0 for a free one"}
	}
	t := network.Transport(to, (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext)
	t.DisableCompression, t.ForceAttemptHTTP2, t.IdleConnTimeout = true, true, 90*time.Second
	defer t.CloseIdleConnections()
	srv := &http.Server{Handler: listen.Guard(p.Reverse(name, to, t))}
	listen.Harden(srv, time.Minute)
	_, _ = fmt.Fprintf(a.Err, "listening on http://%s%s\n", lns[0].Addr(), to.EscapedPath())
	_, _ = fmt.Fprintf(a.Err, "Put this address into the client in the place of the server's, and watch with: mcphud tap\n")
	return serveUntil(ctx, srv, lns)
}

// drainTime is how long requests may go on after the end was asked for.
const drainTime = 2 * time.Second

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, srv *http.Server, lns []net.Listener) error {
	var wg sync.WaitGroup
	failed := make(chan error, len(lns))
	for _, ln := range lns {
		wg.Go(func() {
			if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	drain, stop := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer stop()
	if srv.Shutdown(drain) != nil { // streams last for ever
		_ = srv.Close()
	}
	wg.Wait()
	return err
}
