package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
)

// How a URL is looked at until the program behind it answers.
const (
	launchPause  = 50 * time.Millisecond // between two looks
	launchAnswer = 2 * time.Second       // for the answer to one: who takes the connection and says nothing listens as well
)

// launched is a server that serves a URL by itself, and is started here. It is a child as one over stdio is, and ends as one; what it
// writes to either output is for people.
type launched struct {
	Transport // to the URL
	child     *stdio
	network   *Network
	began     bool           // the transport to the URL was started
	watch     sync.WaitGroup // who hears of the child's end
}

// newLaunched starts the command of cfg before at connects to its URL. The error is that of NewNetwork, which comes before anything is started.
func newLaunched(at Transport, cfg config.Server, tap Tap, o Options) (*launched, error) {
	n, err := NewNetwork(cfg)
	if err != nil {
		return nil, err
	}
	child := newStdio(cfg, tap, o.Stderr, o.GracePeriod)
	child.serves, child.exited = true, o.Exited
	return &launched{Transport: at, child: child, network: n}, nil
}

// Traits are those of the way to the URL, and the child.
func (l *launched) Traits() Traits {
	t := l.Transport.Traits()
	t.Child = l.child
	return t
}

// Start starts the process, waits until something answers at the URL, and connects. ctx bounds all of it.
func (l *launched) Start(ctx context.Context, in Receiver) error {
	if err := l.checkFree(ctx); err != nil {
		return err
	}
	end := &ending{Receiver: in, lost: make(chan error, 1)}
	if err := l.child.Start(ctx, end); err != nil {
		return err
	}
	if err := l.await(ctx, end.lost); err != nil {
		return err
	}
	l.child.read.Store(true) // whatever had to be installed is
	l.began = true
	if err := l.Transport.Start(ctx, in); err != nil {
		return err
	}
	l.watch.Go(func() { // until Close at the latest, which ends the child
		select {
		case err := <-end.lost:
			in.Lost(err)
		case <-l.child.ended:
			select { // both may be ready
			case err := <-end.lost:
				in.Lost(err)
			default:
			}
		}
	})
	return nil
}

// checkFree refuses a URL where something listens already: it would be taken for the server. The look takes two seconds at
// most: what does not answer in that time counts as free.
func (l *launched) checkFree(ctx context.Context) error {
	kind, at := "tcp", hostPort(l.network.URL())
	if l.network.socket != "" {
		kind, at = "unix", l.network.socket // a file that an earlier run left behind answers nobody
	}
	c, err := (&net.Dialer{Timeout: launchAnswer}).DialContext(ctx, kind, at)
	if err != nil {
		return ctx.Err() // nobody is there, as it should be
	}
	_ = c.Close()
	return &failure.Error{
		Kind: failure.SpawnFailed, Stage: "starting", URL: mask.URL(l.child.cfg.URL), Message: "another program listens at " + at + " already",
		Next: "end that program, or give the server another port or socket",
	}
}

// await waits until something answers at the URL, whatever it says.
func (l *launched) await(ctx context.Context, lost <-chan error) error {
	tick := time.NewTicker(launchPause)
	defer tick.Stop()
	for {
		if l.answers(ctx) {
			select {
			case err := <-lost: // somebody else was quicker to listen there
				return err
			default:
				return nil
			}
		}
		select {
		case err := <-lost:
			return err
		case <-ctx.Done():
			return &failure.Error{
				Kind: failure.Timeout, Stage: "starting", URL: mask.URL(l.child.cfg.URL), Err: ctx.Err(), Remedy: failure.RaiseConnectTimeout,
				Message: fmt.Sprintf("the process runs, and nothing answered at %s within %v", mask.URL(l.child.cfg.URL), l.child.cfg.ConnectLimit()),
				Next:    "see in its output where it listens, or give it more time",
			}
		case <-tick.C:
		}
	}
}

// answers makes one request. A port that a container engine forwards takes connections before anybody listens behind it, so that a
// connection alone says nothing.
func (l *launched) answers(ctx context.Context) bool {
	limited, cancel := context.WithTimeout(ctx, launchAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodHead, l.network.URL().String(), nil)
	if err != nil {
		return false
	}
	client := l.network.Documents()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil
	}
	_ = resp.Body.Close()
	return true
}

// Close ends the connection, then the process with everything that it started.
func (l *launched) Close() error {
	var err error
	if l.began {
		err = l.Transport.Close()
	}
	err = errors.Join(err, l.child.Close())
	l.watch.Wait()
	return err
}

// ending hears of the child's end; it is the child's Receiver, of which nothing else is called, for it speaks at its URL.
type ending struct {
	Receiver
	lost chan error // cap 1: a child is lost once
}

func (e *ending) Lost(err error) { e.lost <- err }

// checkLaunchable is why a server cannot be started and then reached by its URL; nil if it can.
func checkLaunchable(cfg config.Server, kind string) error {
	if kind == config.HTTP || kind == config.SSE {
		return nil
	}
	return &failure.Error{
		Kind: failure.Usage, Stage: "connecting", Message: fmt.Sprintf("%s is started to serve a URL, which %s is not", cfg.Name, kind),
		Next: "use " + config.HTTP + " or " + config.SSE,
	}
}
