package check_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
	"github.com/mcphud/mcphud/session/journal/expert"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/sessiontest"
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
		if err != nil {
			t.Fatal(err)
		}
		ends := 0
		r, err := check.Run(t.Context(), &check.Subject{Offer: o, Session: s}, []check.Section{section{"first", nothing}}, check.Tool{}, check.Watch{
			End: func(s check.SectionReport) {
				if s.Name == "server" {
					ends = s.Counts.Error
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(r); !slices.Equal(got, want) || len(want) != ends || r.Counts.Error != len(want) || r.Sections[0].Counts.Error != len(want) {
			t.Errorf("%s: %q, %d at the end, %+v", mode, got, ends, r.Sections[0].Counts)
		}
		if len(want) > 0 && r.Findings[0].Severity.String() != expert.Find("stdout-noise").Severity.String() {
			t.Errorf("%+v", r.Findings[0])
		}
	}
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
		{"resources/list", jsonrpc.CodeMethodNotFound, expert.Find("capability-empty").Severity.String(), "", "resources/list is declared, and not implemented"},
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
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Run(t.Context(), &check.Subject{Offer: o}, []check.Section{reader{section{"first", nothing}}}, check.Tool{}, check.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Findings[0]; f.Severity.String() != c.severity || !strings.HasPrefix(f.Message, c.says) || r.Sections[1].Error != c.unread {
			t.Errorf("%s %d: %s %q, section %q", c.method, c.code, f.Severity, f.Message, r.Sections[1].Error)
		}
	}
}
