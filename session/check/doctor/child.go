package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/diagnosis"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/process"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// spawn starts the process, and waits for its id. That it ends before it answers turns out later, in handshake.
func (r *run) spawn(s *Step) {
	s.add("argv: " + r.commandLine())
	if r.server.Cwd != "" {
		s.add("in: " + r.server.Cwd)
	}
	if r.server.Sandbox != nil {
		s.add("in a sandbox: " + r.server.Sandbox.Describe(strconv.Quote))
	}
	r.notify(s)
	pid := 0
	r.until(func() bool {
		pid = r.session.Status().PID
		return pid != 0
	})
	switch {
	case pid != 0:
		s.Evidence = append([]string{fmt.Sprintf("started, process %d", pid)}, s.Evidence...)
	case r.isOver() && r.err == nil: // so quick that nobody saw it begin
		s.Evidence = append([]string{fmt.Sprintf("started, process %d", r.session.Status().PID)}, s.Evidence...)
	case failure.KindOf(r.err) == failure.SpawnFailed:
		r.setFailed(s, r.err)
	case isMissingToken(r.err):
		s.skip("it is started with the token of a login, and there is none")
	default: // the handshake says why
		s.Evidence = append([]string{"started"}, s.Evidence...)
	}
}

// isMissingToken reports whether there was no token to start a command with.
func isMissingToken(err error) bool {
	var e *failure.Error // the session's, from before there is a process
	return errors.As(err, &e) && e.Kind == failure.OAuth && e.Stage == "authorizing"
}

// handshake waits for the answer to it, and says what was tried.
func (r *run) handshake(s *Step) {
	err := r.wait()
	answered := r.attempts(s)
	switch kind := failure.KindOf(err); {
	case err == nil:
		st := r.session.Status()
		s.Evidence = append([]string{answered + " answered in " + text.Duration(st.Latency)}, s.Evidence...)
	case r.wantsLogin():
		s.skip("the server wants a login first")
	case kind == failure.SpawnFailed && r.server.Command != "":
		r.revise("spawn", func(spawn *Step) {
			if spawn.Status != Failed {
				r.setFailed(spawn, err)
			}
		})
		s.skip("the process ended " + r.lastAnswered())
	case remote(r.server) && r.failedBefore():
		s.skip("the request did not get through")
	default:
		r.setFailed(s, err)
	}
}

// lastAnswered says after which answer a process ended that became no server.
func (r *run) lastAnswered() string {
	for _, e := range slices.Backward(r.entries(journal.Response, journal.ErrorResponse)) {
		if e.Method == "initialize" || e.Method == "server/discover" {
			return "after it answered " + e.Method
		}
	}
	return "before it answered"
}

// setFailed makes the error of connecting the outcome of a step.
func (r *run) setFailed(s *Step, err error) {
	s.setError(err)
	var e *failure.Error
	if errors.As(err, &e) {
		for line := range strings.SplitSeq(e.Detail, "\n") {
			if remote(r.server) {
				s.add(line)
			} else if strings.TrimSpace(line) != "" { // all of it is a step of its own
				s.add("stderr: " + line)
			}
		}
	}
}

// failedBefore is whether a step before this one has failed.
func (r *run) failedBefore() bool {
	return slices.ContainsFunc(r.steps, func(s *Step) bool { return s.Status == Failed })
}

// attempts adds each request of the handshake with its answer, and returns the method of the last one.
func (r *run) attempts(s *Step) (last string) {
	answers := map[uint64]journal.Entry{} // by the Seq of their requests
	for _, e := range r.entries(journal.Response, journal.ErrorResponse) {
		answers[e.Peer] = e
	}
	for _, e := range r.entries(journal.Request) {
		if e.Dir != journal.Out || e.Method != "server/discover" && e.Method != "initialize" {
			continue
		}
		last = e.Method
		said := "no answer"
		switch a, ok := answers[e.Seq]; {
		case ok && a.Kind == journal.Response:
			said = "answered in " + text.Duration(a.Took)
		case ok:
			said = strings.TrimSpace("refused in " + text.Duration(a.Took) + ": " + errorOf(r.journal, a.Seq))
		case e.Status == journal.Failed, e.Status == journal.Cancelled:
			said = "not answered, after " + text.Duration(e.Took)
		}
		s.add(fmt.Sprintf("%s, protocol version %s: %s", e.Method, versionOf(r.journal, e.Seq), said))
	}
	return last
}

// stderr is the end of what the child wrote there, or the lines that say why it failed where one does. What is found here makes the
// advice of spawn better, where that had none.
func (r *run) stderr(s *Step) {
	var lines []string
	n := 0
	for _, e := range r.entries(journal.Stderr) {
		b, err := r.journal.Head(e.Seq, maxLine+secretRoom)
		if l := diagnosis.Plain(strings.ToValidUTF8(string(b), "\uFFFD")); err == nil && strings.TrimSpace(l) != "" {
			n++
			lines = append(lines, l)
		}
	}
	// The same variables as the child has: only one that is not set there can be missing.
	env := process.Environment(r.server.Env)
	if r.server.Sandbox != nil {
		env = process.Filtered(r.server.Env)
	}
	cause := diagnosis.Explain(lines, process.Sets(env))
	show := cause.Shown // the cause, and the last lines
	if r.isConnected() || cause.Line == "" {
		show = slices.DeleteFunc(lines, diagnosis.StackFrame)
		show = show[max(len(show)-12, 0):]
	}
	switch {
	case n == 0:
		s.add("nothing was written")
	case cause.Why() != "" && !r.isConnected() && r.step("spawn").Status == Failed:
		s.fail(failure.SpawnFailed, cause.Why(), cmp.Or(cause.Next, diagnosis.Otherwise))
		s.Remedy, s.Object = cause.Remedy, cause.Object
		if cause.What == "" { // the line stands there already
			show = slices.DeleteFunc(slices.Clone(show), func(l string) bool { return strings.TrimSpace(l) == cause.Line })
		}
	default:
		s.add(fmt.Sprintf("%d lines", n))
		if n == 1 {
			s.Evidence = nil
		}
	}
	s.add(show...)
	if spawn := r.step("spawn"); cause.What != "" && spawn.Status == Failed && spawn.Remedy == "" && cause.Advice() != "" {
		r.revise("spawn", func(spawn *Step) { spawn.Fix, spawn.Remedy, spawn.Object = cause.Advice(), cause.Remedy, cause.Object })
	}
}

// stdout is what of the child's output is not JSON-RPC (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio).
// It is looked at once more after the shutdown, for what a server writes when it ends; hence it begins by clearing the step.
func (r *run) stdout(s *Step) {
	s.Evidence, s.Fix, s.Status = nil, "", OK
	answered := r.answeredAt()
	before, after, unended := 0, 0, 0
	var quoted []string
	var shown [3]int // of each kind, at most four: the first noise is not all there is
	for _, e := range r.entries(journal.Bad) {
		if e.Dir != journal.In {
			continue
		}
		when, kind := "before the handshake", 0
		head := r.head(e.Seq, 160)
		switch {
		case strings.Contains(e.Note, transport.NoLineEnd) && strings.HasPrefix(strings.TrimSpace(head), "{") && strings.Contains(head, `"jsonrpc"`):
			when, kind = "without a line end", 2
			unended++
		case answered != 0 && e.Seq > answered:
			when, kind = "after the handshake", 1
			after++
		default:
			before++
		}
		if n := &shown[kind]; *n < 4 {
			*n++
			quoted = append(quoted, fmt.Sprintf("%s: %q", when, head))
		}
	}
	const fix = "have the server write its messages to standard error: only JSON-RPC may stand on standard output"
	what := fmt.Sprintf("%d lines that are not JSON-RPC: %d before the handshake, %d after", before+after, before, after)
	frames := len(r.entries(journal.Response, journal.ErrorResponse, journal.Notification))
	switch {
	case unended > 0 && before+after == 0:
		r.warnUnended(s)
	case before+after == 0 && frames == 0:
		s.add("nothing was written")
	case before+after == 0:
		s.add("nothing but JSON-RPC")
	case r.isOver() && r.err != nil && frames == 0 && failure.KindOf(r.err) != failure.SpawnFailed:
		s.fail(failure.Protocol, what, fix)
	default:
		s.warn(what, fix)
	}
	s.add(quoted...)
}

// warnUnended says of a message that no line end followed that this is what is wrong with it.
func (r *run) warnUnended(s *Step) {
	const fix = "have the server end each message with a line feed, and flush it"
	s.warn("a message without a line end, which no client reads until one comes", fix)
	if !r.isOver() || r.err == nil || failure.KindOf(r.err) == failure.SpawnFailed {
		return
	}
	s.Status, s.Kind = Failed, failure.Protocol
	r.revise("handshake", func(h *Step) {
		if h.Status == Failed {
			h.Fix, h.Remedy, h.Object = fix, "", ""
			h.add("it wrote a message without a line end")
		}
	})
}

// answeredAt is the Seq of the answer to the handshake, 0 for none.
func (r *run) answeredAt() (seq uint64) {
	for _, e := range r.entries(journal.Response) {
		if seq == 0 && (e.Method == "initialize" || e.Method == "server/discover") {
			seq = e.Seq
		}
	}
	return seq
}

// shutdown disconnects: what the server does when its input ends, or its session. A child has transport.Leave to exit by itself, as
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown) wants of it.
func (r *run) shutdown(s *Step) {
	start := time.Now()
	err := r.session.Disconnect()
	took := time.Since(start)
	if r.server.Command != "" {
		r.revise("stdout", r.stdout)
	}
	r.closed = true
	r.mu.Lock()
	exit := r.exit
	r.mu.Unlock()
	switch {
	case err != nil:
		s.warn(messageOf(err), "")
	case remote(r.server):
		r.goodbye(s, took)
		return
	case exit == nil:
		s.warn("the process had ended by itself", "look at what it wrote to standard error")
		return
	case exit.Forced == "TERM" && r.server.Launch: // whose input says nothing
		s.add("TERM ended it")
	case exit.Forced != "":
		s.warn("it did not exit within "+text.Duration(transport.Leave)+" of the end of its input; "+exit.Forced+" ended it", "have the server exit when its standard input ends")
	default:
		s.add("it exited " + text.Duration(exit.Took) + " after the end of its input")
	}
	s.add("the process " + exit.How)
	switch {
	case exit.Left == 1:
		s.warn("it left a process behind, which was ended", "have the server end what it starts")
	case exit.Left > 1:
		s.warn(fmt.Sprintf("it left %d processes behind, which were ended", exit.Left), "have the server end what it starts")
	}
}

// goodbye is the end of a session over HTTP: a DELETE, which a server may refuse with 405
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
func (r *run) goodbye(s *Step, took time.Duration) {
	for _, e := range r.exchanges() {
		if e.method != "DELETE" {
			continue
		}
		switch {
		case e.status == 405:
			s.add("DELETE: 405, the server ends sessions by itself")
		case e.status >= 200 && e.status < 300, e.status == 404:
			s.add(fmt.Sprintf("DELETE: %d, the session is over", e.status))
		case e.status == 0:
			s.warn("DELETE: "+cmp.Or(e.failed, "no answer"), "have the server answer the end of a session")
		default:
			s.warn(strings.TrimSuffix("DELETE: "+e.line+": "+e.said, ": "), "have the server answer the end of a session with a status of 2xx or 405")
		}
		return
	}
	s.add("no session to end; disconnected in " + text.Duration(took))
}
