package check_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// reader is a section that reads the lists.
type reader struct{ section }

func (reader) ReadsLists() bool { return true }

func nothing(context.Context, *check.Subject, *check.Recorder) error { return nil }

// What stands on standard output beside messages is reported by each check, as severe as all others say who judge recorded traffic.
func TestStdoutNoise(t *testing.T) {
	for mode, want := range map[behave.Mode][]string{behave.Noise: {"server/stdout-noise server"}, behave.Good: nil} {
		_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, mode))
		o, err := check.Take(t.Context(), s)
		require.NoError(t, err)
		ends := 0
		r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section{"first", nothing}}, check.Tool{}, check.Watch{
			End: func(s check.SectionReport) {
				if s.Name == "server" {
					ends = s.Counts.Error
				}
			},
		})
		require.NoError(t, err)
		if got := ids(r); !slices.Equal(got, want) || len(want) != ends || r.Counts.Error != len(want) || r.Sections[0].Counts.Error != len(want) {
			t.Errorf("%s: %q, %d at the end, %+v", mode, got, ends, r.Sections[0].Counts)
		}
		if len(want) > 0 && r.Findings[0].Severity.String() != rules.Find("live", "stdout-noise").Severity.String() {
			t.Errorf("%+v", r.Findings[0])
		}
	}
}

// A message with a wrong member is one, and no noise: other rules say what is wrong with it.
func TestABadMemberIsNoNoise(t *testing.T) {
	for line, want := range map[string]int{
		`{"jsonrpc":"2.0","method":"notifications/message","params":"text"}`: 0, `{"level":"info","message":"started"}`: 1, `started`: 1,
	} {
		cfg := faketest.Stdio(t, behave.Good)
		cfg.Args = append([]string{"-c", `echo "$LINE"; exec "$0" "$@"`, cfg.Command}, cfg.Args...)
		cfg.Command = "sh"
		cfg.Env = map[string]string{"LINE": line}
		_, s := sessiontest.Open(t, session.Options{}, cfg)
		o, err := check.Take(t.Context(), s)
		require.NoError(t, err)
		r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section{"first", nothing}}, check.Tool{}, check.Watch{})
		if err != nil || len(r.Findings) != want {
			t.Errorf("%s: %v %+v", line, err, r.Findings)
		}
	}
}

// conform is a section with a rule of that one's about standard output.
type conform struct{ section }

func (conform) Rules() []*check.Rule { return []*check.Rule{{ID: "conform/stdout-noise"}} }

// What a section found on standard output is not found again.
func TestStdoutNoiseIsFoundOnce(t *testing.T) {
	_, s := sessiontest.Open(t, session.Options{}, faketest.Stdio(t, behave.Noise))
	o, err := check.Take(t.Context(), s)
	require.NoError(t, err)
	r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{conform{section{"conform", func(_ context.Context, _ *check.Subject, r *check.Recorder) error {
		r.Add("conform/stdout-noise", check.Finding{Place: check.Place{Kind: check.OfServer}, Message: "seen"})
		return nil
	}}}}, check.Tool{}, check.Watch{})
	if got := ids(r); err != nil || !slices.Equal(got, []string{"conform/stdout-noise server"}) {
		t.Errorf("%v %q", err, got)
	}
}

// That other lists were examined is said only where there was one.
func TestOtherListsWereExamined(t *testing.T) {
	s := &check.Subject{}
	s.Failed = map[offer.Kind]error{offer.Resources: refusal(-32603), offer.Prompts: refusal(jsonrpc.CodeMethodNotFound)}
	for _, want := range []string{"nothing is known of resources/list, which could not be read", "nothing is known of resources/list, which could not be read; the other lists were examined"} {
		r, err := check.Run(t.Context(), s, []check.Section{reader{section{"first", nothing}}}, check.Tool{}, check.Watch{})
		if err != nil || r.Sections[1].Error != want {
			t.Errorf("%v %q, want %q", err, r.Sections[1].Error, want)
		}
		s.Lists = map[offer.Kind]json.RawMessage{offer.Tools: json.RawMessage(`{"tools":[]}`)}
	}
}

// A list that is known to have nothing was read, or is not implemented.
func TestKnownToHaveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		o    check.Offer
		want bool
	}{
		"read":            {check.Offer{}, true},
		"not implemented": {check.Offer{Failed: map[offer.Kind]error{offer.Resources: refusal(jsonrpc.CodeMethodNotFound)}}, true},
		"failed":          {check.Offer{Failed: map[offer.Kind]error{offer.Resources: refusal(-32603)}}, false},
		"silent":          {check.Offer{Failed: map[offer.Kind]error{offer.Templates: context.DeadlineExceeded}}, false},
		"another failed":  {check.Offer{Failed: map[offer.Kind]error{offer.Tools: refusal(-32603)}}, true},
		"templates":       {check.Offer{Templates: make([]offer.Item, 1)}, false},
		"resources":       {check.Offer{Resources: make([]offer.Item, 1)}, false},
		"tools":           {check.Offer{Tools: make([]offer.Item, 1)}, true},
	} {
		assert.Equalf(t, c.o.Nothing(offer.Resources, offer.Templates), c.want, "%s", name)
	}
}

// refusal is an error of a server.
func refusal(code int64) error {
	return &failure.Error{Kind: failure.RpcError, Code: &code, Message: "no"}
}

// A list that could not be read is unknown: what was read is examined, and nobody is blamed for what stands behind the server. One that
// the server says it does not have is known.
func TestListsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		method           string
		code             int
		severity, unread string // of the finding; of the section
		says             string
	}{
		{"resources/list", -32603, "error", "nothing is known of resources/list, which could not be read; the other lists were examined", "resources/list: the list could not be read: error -32603: refused"},
		{"resources/list", jsonrpc.CodeMethodNotFound, rules.Find("live", "capability-empty").Severity.String(), "", "resources/list is declared, and not implemented"},
		{"tools/list", jsonrpc.CodeMethodNotFound, "error", "", "tools/list is declared, and not implemented"},
		{"", -32603, "error", "nothing is known of tools/list, prompts/list, resources/list, resources/templates/list, which could not be read", "tools/list: the list could not be read: "},
	} {
		_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Handshake(`{"tools":{},"prompts":{},"resources":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				switch {
				case env.Method == c.method || c.method == "":
					p.Refuse(env, c.code, "")
				case strings.HasSuffix(env.Method, "/list"):
					p.Answer(env, `{"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}`)
				}
			})
		})}, config.Server{Name: "one", Command: "x"})
		o, err := check.Take(t.Context(), s)
		require.NoError(t, err)
		r, err := check.Run(t.Context(), &check.Subject{Offer: o}, []check.Section{reader{section{"first", nothing}}}, check.Tool{}, check.Watch{})
		require.NoError(t, err)
		if f := r.Findings[0]; f.Severity.String() != c.severity || !strings.HasPrefix(f.Message, c.says) || r.Sections[1].Error != c.unread {
			t.Errorf("%s %d: %s %q, section %q", c.method, c.code, f.Severity, f.Message, r.Sections[1].Error)
		}
	}
}
