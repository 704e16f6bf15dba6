package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// exchange is one request over HTTP and its answer.
type exchange struct {
	seq            uint64
	method, target string      // of the request
	status         int         // 0 where there was no answer
	line           string      // status line
	headers        [][2]string // of the answer, name and value, in its order
	failed         string      // why there was no answer
	said           string      // how the body of a refusal begins, "" for none
	took           time.Duration
	about          string // JSON-RPC method
}

// exchanges are those of our server, in order. Events and the rest of bodies, which the journal has as entries of their own, are not.
func (r *run) exchanges() (out []exchange) {
	at := map[uint64]int{}
	for _, e := range r.entries(journal.HTTP) {
		if status, isBody := strings.CutPrefix(e.Note, "body of "); isBody {
			if n := len(out); n > 0 && strings.HasSuffix(out[n-1].line, status) { // it follows its head
				out[n-1].said = text.FirstLine(r.head(e.Seq, 200))
			}
			continue
		}
		if strings.HasPrefix(e.Note, "event ") {
			continue
		}
		head, err := r.journal.Head(e.Seq, 32<<10)
		if err != nil {
			continue
		}
		first, rest, _ := strings.Cut(string(head), "\n")
		if e.Dir == journal.Out {
			words := strings.Fields(first)
			if len(words) < 2 {
				continue
			}
			at[e.Seq] = len(out)
			out = append(out, exchange{seq: e.Seq, method: words[0], target: words[1], about: e.Method})
			continue
		}
		i, ok := at[e.Peer] // an answer names its request
		if !ok {
			continue
		}
		x := &out[i]
		x.took = e.Took
		words := strings.Fields(first)
		if len(words) < 2 {
			x.failed = e.Note
			continue
		}
		x.status, _ = strconv.Atoi(words[1]) // a status line has one
		x.line = strings.TrimSpace(first)
		for line := range strings.SplitSeq(rest, "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok {
				x.headers = append(x.headers, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
			}
		}
	}
	return out
}

// telling are the headers of an answer that say something about who gave it, in lower case.
var telling = []string{"content-type", "mcp-session-id", "mcp-protocol-version", "allow", "www-authenticate", "location", "server", "via", "x-powered-by", "retry-after", "cf-ray"}

// http waits for the first answer, and for the last one where the first was a refusal.
func (r *run) http(s *Step) {
	if r.failedBefore() || r.url() == nil {
		s.skip("there is no connection")
		return
	}
	r.until(func() bool {
		return slices.ContainsFunc(r.exchanges(), func(x exchange) bool { return x.status != 0 })
	})
	if all := r.exchanges(); len(all) == 0 || !slices.ContainsFunc(all, func(x exchange) bool { return x.status >= 200 && x.status < 300 }) {
		_ = r.wait() // its error is looked at below
	}
	all := r.exchanges()
	answered := false
	said := map[string]bool{} // a session makes the same exchange again and again
	for _, x := range all {
		if x.about == "subscriptions/listen" || x.status == 0 && x.failed == "" && x.about == "" {
			continue // a stream that stays open
		}
		line := fmt.Sprintf("%s %s%s: ", x.method, x.target, inBrackets(x.about))
		if x.status == 0 {
			line += text.FirstLine(x.failed)
			if x.failed == "" {
				line += "no answer yet"
			}
		} else {
			answered = true
			line += x.line + ", " + text.Duration(x.took)
		}
		if said[x.method+x.target+x.line+x.about] {
			continue
		}
		said[x.method+x.target+x.line+x.about] = true
		s.add(line)
		for _, h := range x.headers {
			if slices.Contains(telling, strings.ToLower(h[0])) && !said[h[0]+h[1]] {
				said[h[0]+h[1]] = true
				s.add("  " + h[0] + ": " + h[1])
			}
		}
	}
	switch {
	case !r.isOver():
		return // the handshake goes on
	case r.err == nil, r.wantsLogin():
		return
	case !answered, allFailed(all):
		seen := s.Evidence
		s.Evidence = nil
		r.setFailed(s, r.err)
		s.add(seen...)
	}
}

// inBrackets is " (s)", "" for "".
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// allFailed reports whether no answer was a success.
func allFailed(all []exchange) bool {
	return !slices.ContainsFunc(all, func(x exchange) bool { return x.status >= 200 && x.status < 300 })
}

// guesses are paths at which servers usually listen.
var guesses = []string{"/mcp", "/sse", "/", "/mcp/", "/api/mcp", "/v1/mcp"}

// guessTime is how long one of them may take.
const guessTime = 3 * time.Second

// path looks for the server at other paths of the same origin, where it seems to be none at this one. The headers of the entry go along,
// as they were meant for this origin; it stops at the first server that it finds.
func (r *run) path(s *Step) {
	u := r.url()
	if u == nil || !slices.ContainsFunc(r.exchanges(), func(x exchange) bool { return x.status != 0 }) {
		s.skip("nothing answered at all")
		return
	}
	if kind := failure.KindOf(r.err); kind == failure.OAuth {
		s.skip("the credentials were refused, which says nothing about the path")
		return
	}
	for _, path := range guesses {
		if path == u.Path || path == "/" && u.Path == "" || r.ctx.Err() != nil {
			continue
		}
		at := *u
		at.Path, at.RawPath, at.RawQuery = path, "", ""
		what, found := r.guess(at)
		s.add(path + ": " + what)
		if found {
			s.fail(failure.Transport, "a server answers at "+mask.URL(at.String()), "write "+mask.URL(at.String())+" as the URL")
			for _, id := range []string{"http", "handshake"} {
				if before := r.step(id); before.Status == Failed {
					r.revise(id, func(h *Step) { h.Fix, h.Remedy = s.Fix, "" })
				}
			}
			return
		}
		r.notify(s)
	}
	s.skip("no MCP server answers at any other usual path")
}

// guess tries to connect at another URL, as a server of its own name, so that its entries in the journal are not ours. found is also
// true where a login would be needed.
func (r *run) guess(at url.URL) (what string, found bool) {
	cfg := r.server
	cfg.Name, cfg.URL, cfg.Transport, cfg.ConnectTimeout = r.server.Name+" at "+at.Path, at.String(), config.Auto, guessTime
	cfg.Source.Project, cfg.Source.Published = false, nil // it was trusted, or not started at all
	cfg.OAuth, cfg.HeadersHelper = nil, nil               // no login is begun, and no program run, for a guess
	s, err := r.manager.Register(cfg)
	if err != nil {
		return messageOf(err), false
	}
	defer func() { _ = r.manager.Unregister(cfg.Name) }() // it has nothing to say
	ctx, cancel := context.WithTimeout(r.ctx, guessTime)
	defer cancel()
	err = s.Connect(ctx)
	switch {
	case err == nil:
		st := s.Status()
		return fmt.Sprintf("an MCP server (%s, protocol version %s)", st.Transport, st.Version), true
	case s.Status().State == session.NeedsLogin:
		return "a server that wants a login", true
	}
	var e *failure.Error
	if errors.As(err, &e) && e.Status != 0 {
		return strconv.Itoa(e.Status), false
	}
	return messageOf(err), false
}
