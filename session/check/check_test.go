package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// section is a section that does what a test says.
type section struct {
	name string
	run  func(context.Context, *check.Subject, *check.Recorder) error
}

func (s section) Name() string  { return s.name }
func (s section) Title() string { return "tries " + s.name }
func (s section) Rules() []*check.Rule {
	return []*check.Rule{{ID: s.name + "/rule", Severity: check.Warning, Fix: "mend it"}}
}

func (s section) Run(ctx context.Context, sub *check.Subject, r *check.Recorder) error {
	return s.run(ctx, sub, r)
}

func ids(r *check.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.ID+" "+f.Place.String())
	}
	return out
}

func subject(t *testing.T) *check.Subject {
	t.Helper()
	_, s := sessiontest.Open(t, session.Options{}, faketest.HTTP(t, behave.Good, behave.Fault{}))
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	return &check.Subject{Offer: o, Session: s}
}

// A server that dies is a finding, and the next section has a new one; so is a section that fails or panics.
func TestRunGoesOn(t *testing.T) {
	s := subject(t)
	var seen int
	tools := check.Place{Kind: check.OfTool, Name: "a"}
	r, err := check.Run(t.Context(), s, []check.Section{
		section{"first", func(ctx context.Context, s *check.Subject, r *check.Recorder) error {
			r.Add("first/rule", check.Finding{Place: tools, Message: "one"})
			r.AddSeverity(check.Error, "first/rule", check.Finding{Place: tools, Message: "two", Key: "2"})
			r.AddPassed("first/rule", check.Place{Kind: check.OfServer}, 0)
			return s.Session.Disconnect()
		}},
		section{"second", func(context.Context, *check.Subject, *check.Recorder) error { return errors.New("no more") }},
		section{"third", func(context.Context, *check.Subject, *check.Recorder) error { panic("oh") }},
		section{"fourth", func(ctx context.Context, s *check.Subject, r *check.Recorder) error {
			l, err := s.Session.Refresh(ctx, offer.Tools)
			seen = len(l.Items)
			r.Figures(check.Figures{Value: map[string]int{"tools": seen}})
			return err
		}},
	}, check.Tool{Name: "mcphud"}, check.Watch{})
	require.NoError(t, err)
	want := []string{"server/died server", "server/section-failed server", "server/section-failed server", "first/rule tool a", "first/rule tool a"}
	if got := ids(r); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if want := (check.Counts{Error: 4, Warning: 1}); r.Counts != want {
		t.Errorf("counts %+v, want %+v", r.Counts, want)
	}
	if seen == 0 || string(r.Sections[4].Figures) == "" {
		t.Errorf("the last section saw %d tools: %s", seen, r.Sections[4].Figures)
	}
	if r.Findings[3].Fingerprint == r.Findings[4].Fingerprint || r.Findings[3].Fix != "mend it" {
		t.Errorf("findings %+v", r.Findings[3:])
	}
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	var back check.Report
	if err := json.Unmarshal(raw, &back); err != nil || back.Findings[4].Severity != check.Error || back.Sections[1].Outcomes[0].Verdict != check.Passed {
		t.Errorf("%v: %s", err, raw)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := subject(t)
	r, err := check.Run(ctx, s, []check.Section{
		section{"first", func(ctx context.Context, _ *check.Subject, r *check.Recorder) error {
			r.Add("first/rule", check.Finding{Message: "one"})
			cancel()
			return ctx.Err()
		}},
		section{"second", func(context.Context, *check.Subject, *check.Recorder) error { t.Error("it began"); return nil }},
	}, check.Tool{}, check.Watch{})
	if !errors.Is(err, context.Canceled) || !slices.Equal(ids(r), []string{"first/rule "}) || r.Sections[1].Error != check.Interrupted {
		t.Errorf("%v: %q, %+v", err, ids(r), r.Sections)
	}
}

// A method that is not there matters most for tools; templates have no capability of their own.
func TestListsThatFail(t *testing.T) {
	for missing, want := range map[string]string{
		"tools/list": "error", "prompts/list": "warning", "resources/list": "warning", "resources/templates/list": "",
	} {
		_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{},"prompts":{},"resources":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch {
				case env.Method == missing:
					p.Refuse(env, jsonrpc.CodeMethodNotFound, "")
				case strings.HasSuffix(env.Method, "/list"):
					p.Answer(env, `{"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}`)
				}
			})
		})}, config.Server{Name: "one", Command: "x"})
		o, err := check.Take(t.Context(), s)
		require.NoError(t, err)
		r, err := check.Run(t.Context(), &check.Subject{Offer: o}, nil, check.Tool{Name: "mcphud"}, check.Watch{})
		require.NoError(t, err)
		got := ""
		for _, f := range r.Findings {
			got += f.Severity.String()
		}
		assert.Equalf(t, got, want, "%s", missing)
	}
}

// A run that ends before the lists were there says which were not answered.
func TestRunOfUnreadLists(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		err  error
		want string
	}{{context.Canceled, "interrupted while tools/list was not answered"}, {nil, ""}} {
		s := &check.Subject{Offer: check.Offer{Failed: map[offer.Kind]error{}}}
		if c.err != nil {
			s.Failed[offer.Tools] = c.err
		}
		r, err := check.Run(ctx, s, []check.Section{section{"first", nil}}, check.Tool{}, check.Watch{})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		got := ""
		for _, s := range r.Sections {
			got += s.Error
		}
		assert.Equalf(t, got, c.want, "%v", c.err)
	}
}

// A tool may be called that is read-only, or was allowed by its name or with all others.
func TestMay(t *testing.T) {
	reads, other := offer.Item{Name: "a", Annotations: []byte(`{"readOnlyHint":true}`)}, offer.Item{Name: "b"}
	for _, c := range []struct {
		allow        []string
		reads, other bool
	}{{nil, true, false}, {[]string{"b"}, true, true}, {[]string{"a"}, true, false}, {[]string{"c", "*"}, true, true}} {
		s := &check.Subject{Allow: c.allow}
		if s.May(reads) != c.reads || s.May(other) != c.other {
			t.Errorf("%q: %v %v", c.allow, s.May(reads), s.May(other))
		}
	}
}
