package session_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// person answers every question that waits, as somebody at the inbox would.
func person(t *testing.T, q *pending.Queue, stop <-chan struct{}) {
	seen := map[uint64]bool{}
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		for _, x := range q.Open() {
			if seen[x.ID] {
				continue
			}
			seen[x.ID] = true
			answer := pending.ActionResult(pending.Accept)
			switch x.Kind {
			case pending.Form:
				content, _ := pending.Defaults(x.Schema())
				content, err := jsonrpc.Update(content, jsonrpc.Default([]byte(`"Ann"`), "name"), jsonrpc.Default([]byte(`"Ann"`), "random"))
				assert.NoError(t, err)
				answer = pending.AcceptResult(content)
			case pending.Sampling:
				answer = pending.Message{Model: "a person", StopReason: "endTurn", Content: []json.RawMessage{pending.Text("said by a person")}}.Result()
			}
			if err := q.Answer(x.ID, answer); err != nil {
				t.Errorf("%s %s: %v", x.Title, x.Method, err)
			}
		}
	}
}

// Each kind of question of servers that others wrote is answered, in both eras and on every transport.
func TestPeerQuestionsAreAnswered(t *testing.T) {
	everything := []ask{
		{"trigger-elicitation-request", `{}`, pending.Form, "Ann"},
		{"trigger-sampling-request", `{"prompt":"say something","maxTokens":100}`, pending.Sampling, "said by a person"},
		{"get-roots-list", `{}`, "", "/a/root"},
	}
	gosdk := []ask{
		{"elicit (form)", `{}`, pending.Form, "Ann"},
		{"elicit (url)", `{}`, pending.URL, "elicitation pending"},
		{"sample", `{}`, pending.Sampling, "said by a person"},
		{"roots", `{}`, "", "/a/root"},
	}
	rounds := []ask{{"ask", `{}`, pending.Sampling, "said by a person; file:///a/root; accept Ann"}}
	first := []ask{{"ask", `{}`, pending.Sampling, "said by a person"}} // go-sdk asks clients of the legacy era for one round only
	for _, c := range []struct {
		name     string
		server   func(*testing.T) config.Server
		protocol string
		era      session.Era
		asks     []ask
	}{
		{"everything, stdio", func(t *testing.T) config.Server { return peertest.Everything(t) }, "", session.Legacy, everything},
		{"everything, http", func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server }, "", session.Legacy, everything},
		{"everything, sse", func(t *testing.T) config.Server { return peertest.EverythingSSE(t).Server }, "", session.Legacy, everything},
		{"go-sdk, legacy stdio", func(t *testing.T) config.Server { return peertest.GoSDKEverything(t) }, "2025-11-25", session.Legacy, gosdk},
		{"go-sdk, http", func(t *testing.T) config.Server { return peertest.GoSDKEverythingHTTP(t).Server }, "", session.Legacy, gosdk},
		{"rounds, modern stdio", func(t *testing.T) config.Server { return peertest.Patient(t) }, "", session.Modern, rounds},
		{"rounds, legacy stdio", func(t *testing.T) config.Server { return peertest.Patient(t) }, "2025-06-18", session.Legacy, first},
		{"rounds, modern http", func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/modern").Server }, "", session.Modern, rounds},
		{"rounds, legacy http", func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/mcp").Server }, "", session.Legacy, first},
		{"rounds, sse", func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/sse").Server }, "", session.Legacy, first},
		{"TypeScript, modern", func(t *testing.T) config.Server { return peertest.Questions(t) }, "2026-07-28", session.Modern, rounds},
		{"TypeScript, legacy", func(t *testing.T) config.Server { return peertest.Questions(t) }, "2025-11-25", session.Legacy, rounds},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := c.server(t)
			cfg.Protocol, cfg.Roots = c.protocol, []string{"file:///a/root"}
			q := pending.New(pending.Options{Attended: true})
			m := session.NewManager(session.Options{Pending: q})
			stop := make(chan struct{})
			t.Cleanup(func() {
				close(stop)
				assert.NoError(t, m.Close())
			})
			go person(t, q, stop)
			s, err := m.Register(cfg)
			require.NoError(t, err)
			require.NoError(t, s.Connect(t.Context()))
			if era := s.Status().Era; era != c.era {
				t.Fatalf("era %s", era)
			}
			for _, a := range c.asks {
				a.check(t, s, q)
			}
		})
	}
}

type ask struct {
	tool, args string
	kind       pending.Kind // "" where no person is asked
	want       string       // in the tool's result
}

func (a ask) check(t *testing.T, s *session.Session, q *pending.Queue) {
	t.Helper()
	before := len(q.History())
	r, err := s.CallTool(t.Context(), a.tool, json.RawMessage(a.args), session.CallOptions{})
	if err != nil || !strings.Contains(string(r.Result), a.want) {
		t.Errorf("%s: %s %v, want %s in it", a.tool, r.Result, err, a.want)
		return
	}
	ended := q.History()[before:]
	if a.kind == "" {
		if len(ended) != 0 {
			t.Errorf("%s: a person was asked: %+v", a.tool, ended)
		}
		return
	}
	if len(ended) == 0 || ended[0].Kind != a.kind || ended[0].By != "you" || ended[0].Cause.Target != a.tool {
		t.Errorf("%s: %+v", a.tool, ended)
	}
}
