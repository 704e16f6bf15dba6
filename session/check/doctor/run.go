package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// run is one diagnosis. Its stages run one after the other on one goroutine; connecting has another one.
type run struct {
	// The fields down to closed belong to the goroutine of the stages, but for err and found.
	ctx     context.Context // of the whole, with its time limit
	opts    Options
	target  Target
	server  config.Server // of the target, enabled, and not to be reconnected
	onStep  func(Step)    // never nil
	secrets []string      // that are masked wherever they turn up, the longest first
	steps   []*Step       // that have begun, in order
	blocked string        // why nothing is started; "" where something is

	network *transport.Network // nil for a child, and until the stage of the configuration
	journal *journal.Journal   // nil until connecting has begun, as manager and session are
	manager *session.Manager   // of this diagnosis alone
	session *session.Session   // nil also where the entry could not be registered
	found   trace              // over HTTP; it has a lock of its own
	began   bool               // connecting has begun
	over    chan struct{}      // closed when connecting is over
	err     error              // of connecting; read only once over is closed
	closed  bool               // the session was disconnected, by a stage or at the end

	mu   sync.Mutex      // of exit, which comes from the goroutine that waits for the child
	exit *transport.Exit // how the child ended when it was closed; nil before
}

// newRun prepares a diagnosis; nothing is started yet.
func newRun(ctx context.Context, t Target, o Options, report func(Step)) *run {
	r := &run{ctx: ctx, opts: o, target: t, server: t.Server, onStep: report, over: make(chan struct{}), secrets: secretsOf(t.Server)}
	// A second attempt would mix its traces with those of the first.
	r.server.NoReconnect, r.server.Disabled = true, false
	r.found.changed = make(chan struct{}, 1)
	// The last eighth is for what comes after.
	if limit := r.opts.Timeout - r.opts.Timeout/8; limit < r.server.ConnectLimit() {
		r.server.ConnectTimeout = limit
	}
	return r
}

// startConnecting starts to connect, once.
func (r *run) startConnecting() error {
	if r.began {
		return nil
	}
	r.began = true
	if r.journal = r.opts.Journal; r.journal == nil {
		r.journal = journal.New(journal.Options{})
	}
	// Nothing of this session may reach the user's: no questions, no history, no pages, no checks that add to what is measured.
	o := r.opts.Session
	o.Journal, o.Pending, o.Record, o.HealthInterval, o.Patient, o.ResultTTL, o.Pages = r.journal, nil, nil, -1, false, 0, nil
	o.Transport.Stderr = nil
	o.Transport.Trace = r.found.client()
	o.Transport.GracePeriod = transport.GracePeriod{Input: transport.Leave, Term: time.Second}
	o.Transport.Exited = func(e transport.Exit) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.exit = &e
	}
	r.manager = session.NewManager(o)
	if r.opts.Watch != nil {
		r.opts.Watch(r.manager)
	}
	s, err := r.manager.Register(r.server)
	if err != nil {
		r.err = err
		close(r.over)
		return err
	}
	r.session = s
	go func() { // ends with r.ctx; close waits for it
		defer close(r.over)
		r.err = s.Connect(r.ctx)
	}()
	return nil
}

// until waits until something is known, or connecting is over, which it is when there is no time left. known is asked after each change
// of the session and each event of the trace, on this goroutine.
func (r *run) until(known func() bool) {
	if err := r.startConnecting(); err != nil {
		return
	}
	changed, stop := r.manager.Follow()
	defer stop()
	for !known() {
		select {
		case <-r.over:
			return
		case <-changed:
		case <-r.found.changed:
		}
	}
}

// wait waits until connecting is over, which it is soon after the context has ended.
func (r *run) wait() error {
	r.until(func() bool { return false })
	return r.err
}

// isConnected reports whether the handshake was answered, and the session is still open.
func (r *run) isConnected() bool { return r.isOver() && r.err == nil && r.session != nil && !r.closed }

// wantsLogin is whether the server wants a login first.
func (r *run) wantsLogin() bool { return r.isOver() && failure.RemedyOf(r.err) == failure.LogIn }

func (r *run) isOver() bool {
	select {
	case <-r.over:
		return r.began
	default:
		return false
	}
}

// close ends what is left.
func (r *run) close() {
	r.closed = true
	if r.manager == nil {
		return
	}
	<-r.over
	_ = r.manager.Close() // shutdown has said what there is to say
	if r.opts.Journal == nil {
		_ = r.journal.Close() // it has no file
	}
}

// entries are those of the journal about our server, oldest first. A journal of the caller's may have others, of other names.
func (r *run) entries(kinds ...journal.Kind) (out []journal.Entry) {
	if r.journal == nil {
		return nil
	}
	r.journal.Each(0, func(e *journal.Entry) bool {
		if e.Server == r.server.Name && slices.Contains(kinds, e.Kind) {
			out = append(out, *e)
		}
		return true
	})
	return out
}

// step finds one that has begun.
func (r *run) step(id string) *Step {
	for _, s := range r.steps {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// revise changes a step that is over, and reports it again: a later stage may know better why. Nothing happens where it never began.
func (r *run) revise(id string, f func(*Step)) {
	if s := r.step(id); s != nil {
		f(s)
		r.notify(s)
	}
}

// notify reports a step as it may be shown.
func (r *run) notify(s *Step) { r.onStep(r.clean(*s)) }

// clean is a copy of a step without secrets, of bounded size.
func (r *run) clean(s Step) Step {
	lines := s.Evidence
	s.Evidence = make([]string, 0, len(lines))
	for i, l := range lines {
		if i == maxEvidence {
			s.Evidence = append(s.Evidence, "more is left out")
			break
		}
		s.Evidence = append(s.Evidence, text.Clip(r.hide(l), maxLine))
	}
	s.Fix, s.Object = r.hide(s.Fix), r.hide(s.Object)
	return s
}

// hide masks what is secret, and writes the home folder as ~. It comes before any cut: half of a secret would not be found.
func (r *run) hide(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, mask.Hidden)
	}
	return home(mask.Log(s), r.opts.Home)
}

// secretRoom is how much more of a line is read than is shown, in bytes: a secret at the cut is then read whole, and masked. It is
// what a token with many claims takes.
const secretRoom = 4 << 10

// head is how the body of an entry begins, n bytes of it at most, secrets masked.
func (r *run) head(seq uint64, n int) string {
	b, _ := r.journal.Head(seq, n+secretRoom) // what is not kept any more shows as nothing
	return text.Cut(r.hide(strings.ToValidUTF8(string(b), "\uFFFD")), n)
}

// home writes the home folder as ~ wherever a path begins with it.
func home(s, dir string) string {
	if dir == "" || dir == "/" {
		return s
	}
	for from := 0; ; {
		i := strings.Index(s[from:], dir)
		if i < 0 {
			return s
		}
		i += from
		end := i + len(dir)                                          // /home/me is not in /home/me2
		word := s[strings.LastIndexAny(s[:i], " \t\"'=:;,([")+1 : i] // of the path so far: -I, or the /mnt of /mnt/home/me
		inside := strings.ContainsAny(word, `/\`) && !strings.HasSuffix(word, "/")
		if inside || end < len(s) && !strings.ContainsRune(`/\ :;,'")]`, rune(s[end])) { // another folder
			from = end
			continue
		}
		s = s[:i] + "~" + s[end:] // which cannot begin with dir again, as dir is absolute
		from = i + 1
	}
}

// secretsOf are the values of an entry that must not be shown: what masking hides, and what of a header follows its scheme.
func secretsOf(s config.Server) (out []string) {
	shown := s.Masked() // which knows what is secret; a scheme or a name that it leaves readable is not a part of the secret
	add := func(value, masked string) {
		if value == masked {
			return
		}
		if _, after, ok := strings.Cut(value, " "); ok && strings.HasPrefix(masked, value[:len(value)-len(after)]) {
			value = after
		}
		if _, after, ok := strings.Cut(value, "="); ok && strings.HasPrefix(masked, value[:len(value)-len(after)]) {
			value = after
		}
		if len(value) > 3 { // shorter ones would be found in half of all words
			out = append(out, value)
		}
	}
	for k, v := range s.Env {
		add(v, shown.Env[k])
	}
	for k, v := range s.Headers {
		add(v, shown.Headers[k])
	}
	for i, v := range s.Args {
		add(v, shown.Args[i])
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	return out
}

// adviceOf is what a failure says is to be done about its reason, "" where it has none.
func adviceOf(err error) string {
	var e *failure.Error
	if errors.As(err, &e) && e.Reason != "" {
		return e.Next
	}
	return ""
}

// messageOf is what a failure says, the reason first, without where.
func messageOf(err error) string {
	var e *failure.Error
	if errors.As(err, &e) {
		return e.What()
	}
	return err.Error()
}
