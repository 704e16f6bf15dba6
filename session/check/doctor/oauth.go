package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// oauth goes through the chain of metadata where the server wants a login. Wanting one does not count as a failure.
func (r *run) oauth(s *Step) {
	if r.session == nil {
		s.skip("there is no connection")
		return
	}
	asked := slices.ContainsFunc(r.exchanges(), func(x exchange) bool { return x.status == 401 || x.status == 403 })
	a := r.session.Authorizer() // nil for a server without logins
	switch {
	case !asked && r.isConnected():
		st := auth.Status{}
		if a != nil {
			st = a.Known()
		}
		switch {
		case st.LoggedIn:
			s.add("logged in at " + st.Issuer)
			if !st.Expires.IsZero() {
				s.add("the token expires at " + st.Expires.Format("2006-01-02 15:04:05"))
			}
		case st.Static:
			s.add("the entry has an Authorization header, and the server took it")
		default:
			s.skip("the server asks for no login")
		}
		return
	case !asked && a != nil && r.server.NeedsToken() && failure.KindOf(r.err) == failure.OAuth:
		s.add(failure.Why(r.err), "its token is put into "+strings.Join(r.server.TokenVariables(), ", "))
		if s.Object = r.server.Name; r.wantsLogin() {
			s.Fix, s.Remedy = "log in", failure.LogIn
		} else {
			s.setError(r.err)
		}
		return
	case !asked:
		s.skip("the server was not reached")
		return
	case a == nil:
		s.setError(r.err)
		return
	case failure.RemedyOf(r.err) == failure.GiveHeader && a.Known().Static:
		s.fail(failure.OAuth, "the Authorization header of the entry was refused", "give another one, or leave it out to log in")
		s.Remedy = failure.GiveHeader
		return
	}
	// Metadata alone: nobody is registered, no browser opens.
	flow, err := a.Discover(r.ctx, nil)
	found := false // some document of metadata
	for _, step := range flow.Steps() {
		s.add(fmt.Sprintf("%s: %s, %s", step.Name, step.State, text.Duration(step.Took)))
		for _, seq := range step.Exchanges {
			line := r.exchangeLine(seq)
			found = found || strings.Contains(line, ": 200 ")
			s.add("  " + line)
		}
		for _, note := range step.Notes {
			s.add("  " + note)
		}
	}
	if err != nil {
		seen := s.Evidence
		s.Evidence = nil
		s.setError(err)
		s.Kind = failure.OAuth
		var v *auth.Violation
		if errors.As(err, &v) {
			s.add("broken by " + string(v.By) + ": " + v.What + " (" + v.Section + ")")
		}
		if r.err != nil && failure.RemedyOf(r.err) != failure.LogIn {
			s.Remedy = failure.GiveHeader
		}
		s.add(seen...)
		return
	}
	if !found && r.session.Config().OAuth == nil {
		seen := s.Evidence
		s.Evidence = nil
		s.fail(failure.OAuth, "the server wants credentials, and has no metadata that says where to log in", "give it a token or an API key in a header, as its manual says")
		s.Remedy = failure.GiveHeader
		s.add(seen...)
		return
	}
	if r.isConnected() {
		s.Evidence = append([]string{"the token that was kept had to be renewed"}, s.Evidence...)
		return
	}
	s.Evidence = append([]string{"the server wants a login, and says where"}, s.Evidence...)
	s.Fix, s.Remedy = "log in at the server", failure.LogIn
	s.Object = r.server.URL
	if r.server.Source.File != "" {
		s.Object = r.server.Name
	}
}

// exchangeLine is a request and its answer, by the Seq of the request.
func (r *run) exchangeLine(seq uint64) string {
	e, ok := r.journal.Get(seq)
	if !ok {
		return "a request that is not kept"
	}
	line := e.Note
	r.journal.Each(seq, func(a *journal.Entry) bool {
		if a.Peer == seq && a.Dir == journal.In {
			line += ": " + a.Note + ", " + text.Duration(a.Took)
			return false
		}
		return true
	})
	return line
}
