package tui

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// refresh takes a new snapshot of the sessions.
func (w *snapshot) refresh(a *App) {
	m := a.cfg.Sessions
	if m == nil {
		return
	}
	now := time.Now()
	w.rows = w.rows[:0]
	for _, s := range m.Servers() {
		w.rows = append(w.rows, rowOf(s, now))
	}
	w.newest(m.Journal(), a.ctx.ShowsProbes())
	if err := m.Journal().Err(); err != nil && w.lost == "" {
		w.lost = err.Error()
		a.toasts.add(Failure, w.lost+"; the session goes on without it")
	}
	if w.current == "" && len(w.rows) > 0 {
		name := w.rows[0].name
		if w.row(a.cfg.Server) != nil {
			name = a.cfg.Server
		}
		w.choose(a, name)
	}
	if w.current != "" && w.row(w.current) == nil { // it was unregistered
		w.current, a.ctx.Server = "", nil
	}
	if s, ok := m.Server(w.current); ok {
		a.ctx.Server = s // it may have been replaced
	}
}

// newest finds the last entry of the traffic, beside health checks and probes unless they are shown.
func (w *snapshot) newest(j *journal.Journal, probes bool) {
	rev := j.Rev()
	if rev == w.seen {
		return
	}
	w.seen = rev
	w.tail = j.Snapshot(w.upTo, w.tail[:0])
	for i := range w.tail {
		e := &w.tail[i]
		w.upTo = e.Seq
		others := e.Kind == journal.Span || e.Hop != "" && len(w.rows) > 0 // of a request that is there already
		quiet := !probes && (e.Method == "ping" || e.Method == "server/discover") && e.Status != journal.Failed
		if !others && !quiet {
			w.latest, w.traffic = *e, true
		}
	}
	if cap(w.tail) > 4096 { // the first snapshot of a long journal
		w.tail = nil
	}
}

// rowOf is a server as rail and status bar show it.
func rowOf(s *session.Session, now time.Time) serverRow {
	st := s.Status()
	r := serverRow{name: s.Name(), title: s.Title(), transport: st.Transport, version: st.Version, state: st.State, called: StateWord(s, st.State)}
	r.software = software(st.ServerInfo)
	r.meta = metaText(s.Meta())
	r.insecure = s.Config().Unverified()
	if c := s.Presented(); c != nil {
		r.client = presentedText(c)
	}
	if st.Latency > 0 {
		r.latency = "answers in " + text.Duration(st.Latency)
	}
	if st.Err != nil {
		own := func(e error) string {
			return strings.TrimPrefix(strings.TrimPrefix(e.Error(), r.title+": "), r.name+": ")
		}
		if r.err = own(st.Err); st.State != session.NeedsLogin { // which says it, and did not fail
			r.reason = own(errors.New(failure.Why(st.Err)))
		}
	}
	if r.transport == "" {
		r.transport = s.Config().Transport
	}
	if p := s.Config().Problem; p != nil && r.err == "" {
		r.err, r.reason = p.Error(), p.Error()
	}
	switch {
	case st.State == session.Connecting:
		r.moving = true
		r.detail = Elapsed(now.Sub(st.Since))
	case st.State == session.Failed && st.RetryAt.After(now):
		r.moving = true
		r.detail = Countdown(st.RetryAt)
	}
	return r
}

// presentedText is what the status bar says of another client, or of other capabilities.
func presentedText(c *session.Client) string {
	if c.Info == nil {
		var names []string
		_ = jsonrpc.Members(c.Capabilities, func(name string, _ []byte) bool {
			names = append(names, name)
			return len(names) < 10
		})
		return "advertises " + cmp.Or(strings.Join(names, ", "), "nothing")
	}
	return "as " + c.Name()
}

// software is what a server calls itself, "" where that is not in a few bytes.
func software(info []byte) string {
	var v struct{ Name, Version string }
	if len(info) > 4096 || json.Unmarshal(info, &v) != nil {
		return ""
	}
	return strings.TrimSpace(v.Name + " " + v.Version)
}

// choose makes a server the current one and reports whether it is known.
func (w *snapshot) choose(a *App, name string) bool {
	if a.cfg.Sessions == nil {
		return false
	}
	s, ok := a.cfg.Sessions.Server(name)
	if !ok {
		return false
	}
	w.current = name
	a.ctx.Server = s
	return true
}

// look counts a server as in use while one of its screens is visible, so that no pool closes it; nil for none.
func (w *snapshot) look(s *session.Session) {
	if s == w.looked {
		return
	}
	if w.looked != nil {
		w.release()
	}
	if w.looked = s; s != nil {
		w.release = s.Hold()
		w.missed = s.Status().Retired != ""
	}
}

// pump starts what tells the program of changes in the sessions.
func (a *App) pump(send func(tea.Msg)) (stop func()) {
	m := a.cfg.Sessions
	if m == nil {
		return func() {}
	}
	return startPump(m.Changed(), a.cfg.Changed, m.Rev, send)
}
