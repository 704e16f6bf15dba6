package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const modernHello = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"hi","resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","x":1.0}}}`

// TestEraDetection goes through the rules for a pipe, one scripted server each.
func TestEraDetection(t *testing.T) {
	for name, c := range map[string]struct {
		protocol string
		script   func(p *sessiontest.Peer, env jsonrpc.Envelope)
		era      session.Era
		kind     failure.Kind
		methods  string // that the server saw
		took     time.Duration
	}{
		"modern": {era: session.Modern, methods: "server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Answer(env, modernHello)
		}},
		"legacy error": {era: session.Legacy, methods: "server/discover initialize notifications/initialized", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.Method == "initialize" {
				p.Answer(env, `{"protocolVersion":"2024-11-05","capabilities":{}}`)
			} else if env.ID != nil {
				p.Refuse(env, -32600, "")
			}
		}},
		"silent on discover": {era: session.Legacy, took: session.PipePatience, methods: "server/discover initialize notifications/initialized", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.Method == "initialize" {
				p.Answer(env, `{"protocolVersion":"2025-03-26","capabilities":{}}`)
			}
		}},
		"answers anything": {era: session.Legacy, methods: "server/discover initialize notifications/initialized", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.ID != nil {
				p.Answer(env, `{"protocolVersion":"2025-03-26","capabilities":{}}`)
			}
		}},
		"header mismatch is modern": {kind: failure.RpcError, methods: "server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Refuse(env, jsonrpc.CodeHeaderMismatch, "")
		}},
		"missing capability is modern": {kind: failure.RpcError, methods: "server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Refuse(env, jsonrpc.CodeMissingCapability, `,"data":{}`)
		}},
		"another version only": {kind: failure.RpcError, methods: "server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Refuse(env, jsonrpc.CodeUnsupportedVersion, `,"data":{"supported":["2025-11-25"],"requested":"2026-07-28"}`)
		}},
		"refused and offered": {era: session.Modern, methods: "server/discover server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if string(env.ID) != "1" {
				p.Answer(env, modernHello)
				return
			}
			p.Refuse(env, jsonrpc.CodeUnsupportedVersion, `,"data":{"supported":["2026-07-28"],"requested":"2026-07-28"}`)
		}},
		"always refused and offered": {protocol: "2026-07-28", kind: failure.RpcError, methods: "server/discover server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Refuse(env, jsonrpc.CodeUnsupportedVersion, `,"data":{"supported":["2026-07-28"],"requested":"2026-07-28"}`)
		}},
		"pinned legacy": {protocol: "2025-06-18", era: session.Legacy, methods: "initialize notifications/initialized", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.Method == "initialize" {
				p.Answer(env, `{"protocolVersion":`+string(jsonrpc.Get(env.Params, "protocolVersion"))+`,"capabilities":{}}`)
			}
		}},
		"pinned modern never falls back": {protocol: "2026-07-28", kind: failure.RpcError, methods: "server/discover", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			p.Refuse(env, -32601, "")
		}},
		"initialize with a version of the future": {kind: failure.Protocol, methods: "server/discover initialize", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.Method == "initialize" {
				p.Answer(env, `{"protocolVersion":"2031-01-01","capabilities":{}}`)
				return
			}
			p.Refuse(env, -32601, "")
		}},
		"never answers": {kind: failure.Timeout, took: config.DefaultConnectTimeout, methods: "server/discover initialize", script: func(*sessiontest.Peer, jsonrpc.Envelope) {}},
		"slow modern": {era: session.Modern, took: 3 * time.Second, methods: "server/discover initialize", script: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if env.Method == "server/discover" {
				time.Sleep(3 * time.Second)
				p.Answer(env, modernHello)
				return
			}
			p.Refuse(env, -32601, "")
		}},
		"unknown pin": {protocol: "1999-01-01", kind: failure.Usage, script: func(*sessiontest.Peer, jsonrpc.Envelope) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var methods []string
				_, s := sessiontest.Register(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
					p.Serve(func(env jsonrpc.Envelope) {
						if env.Method != "subscriptions/listen" {
							methods = append(methods, env.Method)
							c.script(p, env)
						}
					})
				})}, config.Server{Protocol: c.protocol})
				start := time.Now()
				err := s.Connect(t.Context())
				took := time.Since(start)
				synctest.Wait()
				st := s.Status()
				if failure.KindOf(err) != c.kind || st.Era != c.era || took != c.took {
					t.Errorf("%v, era %q after %v; want %q, %q, %v", err, st.Era, took, c.kind, c.era, c.took)
				}
				if (st.State == session.Connected) != (c.kind == "") || (st.State == session.Failed) != (c.kind != "") {
					t.Error(st.State)
				}
				assert.NoError(t, s.Disconnect())
				if got := strings.Join(methods, " "); got != c.methods {
					t.Errorf("the server saw %q, want %q", got, c.methods)
				}
			})
		})
	}
}

func TestEraExactServerInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) { p.Answer(env, modernHello) })
		})}, config.Server{})
		st := s.Status()
		if string(st.ServerInfo) != `{"name":"m","x":1.0}` || string(st.Capabilities) != `{"tools":{"listChanged":true}}` || st.Instructions != "hi" {
			t.Errorf("%s %s %q", st.ServerInfo, st.Capabilities, st.Instructions)
		}
		if !s.Supports("tools/call") || s.Supports("prompts/list") || s.Supports("resources/subscribe") {
			t.Error("Supports does not follow the capabilities")
		}
	})
}

// TestEraIsRemembered: a reconnect does not probe again.
func TestEraIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first []string
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(n int, p *sessiontest.Peer) {
			env, _ := p.Next()
			first = append(first, env.Method)
			if env.Method == "server/discover" {
				p.Refuse(env, -32601, "")
				env, _ = p.Next()
			}
			p.Answer(env, `{"protocolVersion":"2025-11-25","capabilities":{}}`)
			p.Serve(func(jsonrpc.Envelope) {})
		})}, config.Server{})
		require.NoError(t, s.Reconnect(t.Context()))
		if strings.Join(first, " ") != "server/discover initialize" {
			t.Error(first)
		}
	})
}

// TestUnsupportedVersionResent: an offer of a version that we speak is taken, once, with a new id.
func TestUnsupportedVersionResent(t *testing.T) {
	assert.Equal(t, session.Common([]byte(`{"supported":["2030-01-01","2026-07-28"]}`), "2025-11-25"), "2026-07-28")
	assert.Equal(t, session.Common([]byte(`{"supported":["2026-07-28"]}`), "2026-07-28"), "")
	assert.Equal(t, session.Common(nil, ""), "")
}

// TestModernInput: roots are given in the second round; what nobody can answer is NeedsInput with the request as data.
func TestModernInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second jsonrpc.Envelope
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch {
				case env.Method == "server/discover":
					p.Answer(env, modernHello)
				case jsonrpc.GetString(env.Params, "name") == "ask":
					p.Answer(env, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"s"}`)
				case jsonrpc.Get(env.Params, "inputResponses") == nil && env.Method == "tools/call":
					first = env
					p.Answer(env, `{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"st\u0061te"}`)
				case env.Method == "tools/call":
					second = env
					p.Answer(env, `{"resultType":"complete","content":[]}`)
				}
			})
		})}, config.Server{Roots: []string{"file:///r"}})
		r, err := s.CallTool(t.Context(), "roots", []byte(`{"a":1}`), session.CallOptions{})
		if err != nil || string(r.Result) != `{"resultType":"complete","content":[]}` {
			t.Fatal(string(r.Result), err)
		}
		assert.Equal(t, string(jsonrpc.Get(second.Params, "inputResponses")), `{"r":{"roots":[{"uri":"file:///r"}]}}`)
		assert.Equal(t, string(jsonrpc.Get(second.Params, "requestState")), `"st\u0061te"`)
		if string(second.ID) == string(first.ID) {
			t.Error("the same id again")
		}
		_, err = s.CallTool(t.Context(), "ask", nil, session.CallOptions{})
		var e *failure.Error
		if !errors.As(err, &e) || e.Kind != failure.NeedsInput || !strings.Contains(string(e.Data), "elicitation/create") {
			t.Error(err)
		}
	})
}

// TestModernListen: list_changed arrives by a stream of its own, and subscriptions wait for their acknowledgement.
func TestModernListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filters := make(chan string, 4)
		cancelled := make(chan string, 4)
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch env.Method {
				case "server/discover":
					p.Answer(env, modernHello)
				case "subscriptions/listen":
					f := jsonrpc.Get(env.Params, "notifications")
					filters <- string(f)
					if !strings.Contains(string(f), "nope") {
						p.Send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s}}`, f)
					} else {
						p.Refuse(env, -32602, "")
					}
				case "notifications/cancelled":
					cancelled <- string(jsonrpc.Get(env.Params, "requestId"))
				}
			})
		})}, config.Server{})
		assert.Equal(t, <-filters, `{"toolsListChanged":true}`)
		require.NoError(t, s.Subscribe(t.Context(), "file:///x"))
		assert.Equal(t, <-filters, `{"resourceSubscriptions":["file:///x"]}`)
		if err := s.Subscribe(t.Context(), "nope:"); failure.KindOf(err) != failure.RpcError {
			t.Error(err)
		}
		assert.Equalf(t, len(s.Status().Inflight), 0, "listening counts as a request in flight")
		require.NoError(t, s.Unsubscribe(t.Context(), "file:///x"))
		assert.Equal(t, <-cancelled, "3")
	})
}

// TestSubscribeAfterTheStreamEnded: a subscription that the server ended is opened again.
func TestSubscribeAfterTheStreamEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := 0
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch f := jsonrpc.Get(env.Params, "notifications"); {
				case env.Method == "server/discover":
					p.Answer(env, modernHello)
				case env.Method == "subscriptions/listen" && strings.Contains(string(f), "file:"):
					p.Send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s}}`, f)
					if streams++; streams == 1 {
						p.Refuse(env, -32000, "")
					}
				}
			})
		})}, config.Server{})
		for want := 1; want <= 2; want++ {
			require.NoError(t, s.Subscribe(t.Context(), "file:///x"))
			synctest.Wait()
			if streams != want {
				t.Errorf("%d streams were opened, want %d", streams, want)
			}
		}
	})
}

// TestSubscribeOutlivesAnEarlierOne: the end of one subscription leaves the next one to the same resource alone.
func TestSubscribeOutlivesAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams, cancelled := 0, 0
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
			p.Serve(func(env jsonrpc.Envelope) {
				switch f := jsonrpc.Get(env.Params, "notifications"); {
				case env.Method == "server/discover":
					p.Answer(env, modernHello)
				case env.Method == "notifications/cancelled":
					cancelled++
				case env.Method == "subscriptions/listen" && strings.Contains(string(f), "file:"):
					if streams++; streams == 2 {
						time.Sleep(time.Second)
						p.Send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":%s}}`, f)
					}
				}
			})
		})}, config.Server{})
		first := make(chan error)
		go func() { first <- s.Subscribe(t.Context(), "file:///x") }()
		synctest.Wait()
		second := make(chan error)
		require.NoError(t, s.Unsubscribe(t.Context(), "file:///x"))
		go func() { second <- s.Subscribe(t.Context(), "file:///x") }()
		if err := <-first; err == nil {
			t.Error("what was ended succeeded")
		}
		if err := <-second; err != nil || streams != 2 {
			t.Errorf("%d streams, %v", streams, err)
		}
		synctest.Wait()
		assert.Equalf(t, cancelled, 1, "streams were cancelled")
	})
}

func TestConnectJoinsAndCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		m, s := sessiontest.Register(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(n int, p *sessiontest.Peer) {
			starts = n
			if n == 1 {
				p.Serve(func(jsonrpc.Envelope) {})
				return
			}
			p.Handshake(`{}`)
			p.Serve(func(jsonrpc.Envelope) {})
		})}, config.Server{})
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- s.Connect(ctx) }()
		synctest.Wait()
		assert.Equal(t, s.Status().State, session.Connecting)
		go func() { second <- s.Connect(t.Context()) }()
		synctest.Wait()
		cancel() // the second caller goes on by itself
		if a, b := <-first, <-second; failure.KindOf(a) != failure.Interrupted || b != nil {
			t.Error(a, b)
		}
		if starts != 2 {
			t.Errorf("started %d times", starts)
		}
		want := "Disconnected → Connecting\nConnecting → Disconnected\nDisconnected → Connecting\nConnecting → Connected"
		var got []string
		for _, e := range m.Journal().Snapshot(0, nil) {
			if e.Kind == journal.State && strings.Contains(e.Note, " → ") {
				got = append(got, e.Note)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Error(got)
		}
	})
}
