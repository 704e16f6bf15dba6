package sessions

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/process"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// What a keeper remembers of the traffic, for whoever comes to watch.
const (
	journalMemory  = 8 << 20
	journalEntries = 10_000
)

// spec is what a keeper is to keep. It comes by a pipe: nothing of it stands among the arguments of a process.
type spec struct {
	Server   config.Server `json:"server"`
	Shown    string        `json:"shown"` // the command or URL, with secrets masked
	Settings config.Settings
	Idle     time.Duration `json:"idle"`
	Wait     time.Duration `json:"wait"`
	Terminal int           `json:"terminal,omitempty"` // the process whose end is its end; 0 for none
	Login    string        `json:"login"`              // the command that logs in at the server
}

// advise is what the next command can do about an error of the connection.
func (s spec) advise(e *failure.Error) string {
	switch {
	case e.Kind == failure.OAuth:
		return "log in by " + s.Login + ", and call again"
	case e.Kind == failure.ChannelClosed && s.Server.Command != "":
		return "mcphud session close " + s.Server.Name + ", then open it again"
	}
	return e.Next
}

// keeper keeps one session. Its socket, its server and the calls that wait there are gone once it is closed.
type keeper struct {
	spec
	socket   string
	web      *http.Server
	served   sync.WaitGroup
	endpoint *aggregate.Server
	giveUp   context.CancelFunc // connecting
	j        *journal.Journal
	tap      *tap.Producer
	waiting  *waitingCalls
	opened   time.Time

	mu      sync.Mutex
	sess    *session.Session // nil until it is connected
	free    func()           // lets go of sess
	closed  bool
	used    time.Time // when the last request ended
	running int
	calls   int64

	closing sync.Once
	over    chan struct{} // closed when everything is gone
}

// openKeeper takes the name, connects the server, and serves.
func (a *app) openKeeper(ctx context.Context, s spec) (*keeper, error) {
	ln, path, err := unixsocket.Listen(unixsocket.Dirs(), kept.Socket(s.Server.Name))
	switch {
	case errors.Is(err, unixsocket.ErrTaken):
		return nil, &failure.Error{Kind: failure.Usage, Server: s.Server.Name, Message: "a session of this name is open already", Next: "use it by --session " + s.Server.Name + ", or end it by mcphud session close " + s.Server.Name}
	case err != nil:
		return nil, &failure.Error{Kind: failure.Usage, Message: "cannot keep a session: " + err.Error(), Err: err}
	}
	k := &keeper{spec: s, socket: path, opened: time.Now(), used: time.Now(), over: make(chan struct{}), waiting: newWaiting(s.Server.Name, s.Wait)}
	k.j = journal.New(journal.Options{Memory: journalMemory, Entries: journalEntries})
	if k.tap, err = tap.Open(tap.Options{Name: s.Server.Name, Kind: tap.Wrapped, Argv: []string{s.Shown}}); err == nil {
		k.served.Go(func() { k.publish(k.over) })
	}
	ctx, k.giveUp = context.WithCancel(ctx)
	o, err := a.SessionOptions(s.Settings)
	if err == nil {
		o.Journal, o.Pending = k.j, nil
		k.endpoint = aggregate.New(aggregate.Options{
			Name: "mcphud", Version: cli.Version(), AskTime: s.Wait, TTL: forever, Timeout: silence, MaxRequest: config.DefaultMaxFrame,
			Agents:   func() []string { return []string{s.Server.Name} },
			Identify: func(http.ResponseWriter, *http.Request) (aggregate.Caller, bool) { return aggregate.Caller{}, true },
			Sole:     &aggregate.Sole{Server: s.Server, Session: o, Advise: s.advise},
		})
		k.web = &http.Server{Handler: k.handler()}
		listen.Harden(k.web, bodyTime)
		k.served.Go(func() { _ = k.web.Serve(unixsocket.Own{UnixListener: ln}) }) // ends by serve, or below
		err = k.connect(ctx)
	}
	if err != nil {
		k.close()
		k.hangUp(ctx)
		_ = ln.Close() // where nobody served it
		return nil, err
	}
	k.served.Go(func() { k.watch(k.over) })
	return k, nil
}

// errClosed is the error of a session that was closed while it was opened.
var errClosed = &failure.Error{Kind: failure.Interrupted, Message: "the session was closed before its server was ready"}

// connect connects the server. Until then the session is listed, and takes no calls.
func (k *keeper) connect(ctx context.Context) error {
	sess, free, err := k.endpoint.Hold(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		if err == nil {
			free()
		}
		return errClosed
	case err != nil:
		return err
	}
	k.sess, k.free, k.used = sess, free, time.Now()
	return nil
}

const (
	forever  = 365 * 24 * time.Hour
	silence  = 4 * time.Hour // of a call whose command is gone, or asks for more
	bodyTime = 30 * time.Second
	lookTime = time.Second
)

// watch ends the session when nobody used it for too long, or the terminal is gone that it was opened in.
func (k *keeper) watch(over <-chan struct{}) {
	t := time.NewTicker(lookTime)
	defer t.Stop()
	for {
		select {
		case <-over:
			return
		case <-t.C:
		}
		k.mu.Lock()
		unused := k.running == 0 && time.Since(k.used) > k.Idle
		k.mu.Unlock()
		if unused && len(k.waiting.list()) == 0 || k.Terminal > 0 && !process.Alive(k.Terminal) {
			go k.close()
			return
		}
	}
}

// publish shows whoever watches what is said with the server.
func (k *keeper) publish(over <-chan struct{}) {
	wake := make(chan struct{}, 1)
	k.j.OnChange(func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	var last uint64
	for {
		k.j.Each(last, func(e *journal.Entry) bool {
			last = e.Seq
			body, err := k.j.Body(e.Seq)
			if err != nil {
				body = nil // it was dropped meanwhile
			}
			k.tap.Append(*e, body)
			return true
		})
		select {
		case <-over:
			return
		case <-wake:
		}
	}
}

// close ends the session: the name is free, and the server's process gone, when it returns.
func (k *keeper) close() {
	k.closing.Do(func() {
		_ = os.Remove(k.socket)
		k.giveUp()
		k.mu.Lock()
		k.closed = true
		free := k.free
		k.mu.Unlock()
		if free != nil {
			free()
		}
		if k.endpoint != nil {
			_ = k.endpoint.Close()
		}
		_ = k.tap.Close()
		close(k.over)
	})
	<-k.over
}

// status is what the session says of itself.
func (k *keeper) status() kept.Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := kept.Status{
		Name: k.Server.Name, Server: k.Shown, State: string(session.Connecting), PID: os.Getpid(), Opened: k.opened, Used: k.used,
		Limit: k.Idle.Milliseconds(), Terminal: k.Terminal, Calls: k.calls, Running: k.running, Waiting: k.waiting.list(), Socket: k.socket, Tap: k.tap.Path(),
	}
	if s.Opening = k.sess == nil; s.Opening {
		return s
	}
	st := k.sess.Status()
	s.State, s.Child = string(st.State), st.PID
	if title := k.sess.Title(); title != s.Name {
		s.Title = title
	}
	if st.Err != nil {
		s.Error = st.Err.Error()
	}
	s.Ended = k.Server.Command != "" && st.State != session.Connected
	return s
}

// serve waits until the session is over.
func (k *keeper) serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
		k.close()
	case <-k.over:
	}
	k.hangUp(ctx)
	k.served.Wait()
	return errors.Join(k.j.Close())
}

// hangUp ends the connections, once whoever closed the session has an answer.
func (k *keeper) hangUp(ctx context.Context) {
	if k.web == nil {
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	if err := k.web.Shutdown(end); err != nil {
		_ = k.web.Close()
	}
}
