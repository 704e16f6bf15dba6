package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// requestTime is how long one request of these stages may take.
const requestTime = 10 * time.Second

// listenTime is how long the rules wait for the answer to what the session asks for by itself, beside the stages: a refusal is checked as well.
const listenTime = 2 * time.Second

// era is what was agreed on. HTTP+SSE is deprecated since 2025-03-26
// (https://modelcontextprotocol.io/specification/2025-03-26/basic/transports#backwards-compatibility).
func (r *run) era(s *Step) {
	st := r.session.Status()
	s.add(fmt.Sprintf("%s, the %s era, over %s", st.Version, st.Era, st.Transport))
	if name := jsonrpc.GetString(st.ServerInfo, "name"); name != "" {
		s.add("server: " + strings.TrimSpace(name+" "+jsonrpc.GetString(st.ServerInfo, "version")))
	} else {
		s.warn("the server does not say its name", "have it send serverInfo")
	}
	if st.Transport == "sse" {
		s.warn("HTTP+SSE is deprecated", "have the server speak Streamable HTTP")
	}
}

// lists are what a capability promises. Templates are a part of resources, and have no capability of their own
// (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#capabilities).
var lists = []struct {
	capability string
	kind       offer.Kind
}{
	{"tools", offer.Tools}, {"resources", offer.Resources}, {"resources", offer.Templates}, {"prompts", offer.Prompts},
}

// capabilities compares what is declared with what is answered: declared lists, and those that are not. The latter are asked by
// Call with nothing added (Exact), so that nothing else is refused; a refusal with -32601 is what JSON-RPC asks for
// (https://www.jsonrpc.org/specification#error_object). Each request has requestTime.
func (r *run) capabilities(s *Step) {
	declared := r.session.Status().Capabilities
	var names []string
	_ = jsonrpc.Members(declared, func(name string, _ []byte) bool { // anything else declares nothing
		names = append(names, name)
		return true
	})
	slices.Sort(names)
	summary := "none declared"
	if len(names) > 0 {
		summary = "declared: " + strings.Join(names, ", ")
	}
	s.add(summary)
	works := false // a list was answered
	for _, l := range lists {
		method := l.kind.Method()
		start := time.Now()
		ctx, cancel := context.WithTimeout(r.ctx, requestTime)
		if slices.Contains(names, l.capability) {
			got, err := r.session.List(ctx, l.kind)
			cancel()
			var e *failure.Error
			switch {
			case err == nil:
				works = true
				s.add(fmt.Sprintf("%s: %d, in %s", method, len(got.Items), text.Duration(time.Since(start))))
			case l.kind == offer.Templates && errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeMethodNotFound:
				s.add(method + ": not implemented, which servers without templates may do")
			case errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeMethodNotFound:
				what, fix := method+" is declared, and not implemented: "+messageOf(err), "have the server answer it, or not declare "+l.capability
				if l.kind != offer.Tools && rules.Find("live", "capability-empty").Severity != rules.Error { // a client has the others
					if works {
						what += "; the other lists work"
					}
					s.warn(what, fix)
				} else {
					s.worse(failure.Protocol, what, fix)
				}
			default:
				kind := failure.KindOf(err)
				if kind == failure.RpcError { // a list that is declared has to be answered
					kind = failure.Protocol
				}
				fix := "start what the server needs to answer; else have it answer, or not declare " + l.capability
				if kind == failure.ChannelClosed {
					fix = cmp.Or(adviceOf(err), "see why in its output")
				}
				s.worse(kind, "the list could not be read: "+method+": "+messageOf(err), fix)
				s.add("it took " + text.Duration(time.Since(start)))
				if kind == failure.ChannelClosed { // nothing more can be asked
					return
				}
			}
			continue
		}
		_, err := r.session.Call(ctx, method, nil, session.CallOptions{Exact: true})
		cancel()
		var e *failure.Error
		switch {
		case err == nil:
			s.warn(method+" is answered, and "+l.capability+" is not declared", "have the server declare "+l.capability)
		case errors.As(err, &e) && e.Code != nil && *e.Code == jsonrpc.CodeMethodNotFound:
			s.add(method + ": not declared, and refused with -32601")
		case errors.As(err, &e) && e.Code != nil:
			s.warn(fmt.Sprintf("%s is not declared, and refused with %d instead of -32601", method, *e.Code), "have the server answer unknown methods with -32601")
		case r.ctx.Err() != nil: // which the server cannot be blamed for
			if what := "the diagnosis ended before " + method + " was answered"; s.Status == Running {
				s.skip(what)
			} else {
				s.add(what)
			}
			return
		case failure.KindOf(err) == failure.ChannelClosed: // nothing more can be asked
			s.warn(method+" is not declared, and the server ended instead of refusing it: "+messageOf(err), cmp.Or(adviceOf(err), "have the server answer unknown methods with -32601"))
			return
		default:
			s.warn(method+" is not declared, and not refused: "+messageOf(err), "have the server answer unknown methods with -32601")
		}
	}
}

// worse is fail for one of several things that can fail: the first of them sums the step up.
func (s *Step) worse(kind failure.Kind, what, fix string) {
	if s.Status == Failed {
		s.add(what)
		return
	}
	s.fail(kind, what, fix)
}

// schemas reads the schemas of all tools, those of the list that capabilities has read. One schema may take long, so that the limit is
// looked at between tools.
func (r *run) schemas(s *Step) {
	ctx, cancel := context.WithTimeout(r.ctx, requestTime)
	defer cancel()
	got := r.session.Listing(offer.Tools)
	if !got.Loaded {
		s.skip("there is no list of tools")
		return
	}
	read := 0
	for _, it := range got.Items {
		if ctx.Err() != nil { // of this stage or of all: what was read counts
			s.warn(fmt.Sprintf("only %d of %d tools were read", read, len(got.Items)), "")
			break
		}
		read++
		if it.Flaw != nil { // its schemas may be what is missing
			s.warn(it.Name+": "+it.Flaw.Error(), "correct the definition of the tool")
			continue
		}
		for _, one := range []struct {
			name string
			raw  []byte
		}{{"inputSchema", it.InputSchema}, {"outputSchema", it.OutputSchema}} {
			if len(one.raw) == 0 {
				continue
			}
			parsed := schema.Parse(one.raw)
			if err := parsed.Err(); err != nil {
				s.warn(fmt.Sprintf("%s: %s: %v", it.Name, one.name, err), "correct the schema of the tool")
				continue
			}
			for _, why := range parsed.Unchecked() {
				s.warn(fmt.Sprintf("%s: %s: %s", it.Name, one.name, why), "correct the schema of the tool")
			}
		}
	}
	if s.Status == Running {
		s.add(fmt.Sprintf("%d tools, each with schemas that can be read", len(got.Items)))
	}
}

// rules checks everything that was said so far, by the rules of live traffic; only what the server broke counts, once for each rule.
func (r *run) rules(s *Step) {
	ctx, cancel := context.WithTimeout(r.ctx, listenTime)
	defer cancel()
	if err := r.session.AwaitListening(ctx); err != nil && r.ctx.Err() == nil {
		s.add("subscriptions/listen is not answered after " + text.Duration(listenTime))
	}
	list := live.NewListOf(r.server.Name)
	if err := list.Update(r.ctx, r.journal); err != nil {
		s.skip("cancelled")
		return
	}
	report := list.Report()
	for _, g := range report.Groups {
		n := 0
		var first live.Finding
		for _, f := range g.Findings {
			if f.Server == r.server.Name && f.By == rules.Server {
				if n == 0 {
					first = f
				}
				n++
			}
		}
		if n == 0 {
			continue
		}
		line := fmt.Sprintf("%s: %s: %s (%d×): %s", live.Word(g.Rule.Severity), g.Rule.ID, g.Rule.Title, n, first.Evidence)
		if g.Rule.Severity == rules.Info {
			s.add(line)
			continue
		}
		// In the order of the groups, the gravest first, while warn would put each before the one before.
		fix := s.Fix
		seen := s.Evidence
		s.Evidence = nil
		s.warn(line, g.Rule.Fix)
		s.add("  " + first.Section())
		s.Evidence = append(seen, s.Evidence...)
		if fix != "" {
			s.Fix = fix
		}
	}
	sum := fmt.Sprintf("%d messages checked", report.Frames)
	if s.Status == Running {
		sum += ", no rule is broken"
	}
	s.Evidence = append([]string{sum}, s.Evidence...)
}

// latency measures some round trips, one after the other, by ping, which servers answer at once
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping).
func (r *run) latency(s *Step) {
	var all []time.Duration
	for range pings {
		ctx, cancel := context.WithTimeout(r.ctx, requestTime)
		took, err := r.session.Ping(ctx)
		cancel()
		if err != nil {
			kind := failure.KindOf(err)
			s.fail(kind, "ping failed: "+messageOf(err), "see what the server wrote")
			return
		}
		all = append(all, took)
	}
	slices.Sort(all)
	s.add(fmt.Sprintf("%d round trips: min %s, median %s, max %s", len(all), text.Duration(all[0]), text.Duration(all[len(all)/2]), text.Duration(all[len(all)-1])))
	if median := all[len(all)/2]; median > time.Second {
		s.warn("the server is slow: half of the answers take longer than "+text.Duration(median), "look at what the server waits for")
	}
}
