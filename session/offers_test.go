package session_test

import (
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A server that answers server/discover decides by the versions that it offers there: a legacy one is met with initialize.
func TestDiscoverDecidesByItsVersions(t *testing.T) {
	cases := map[string]struct {
		offered string
		era     session.Era
		version string
	}{
		"modern":       {`["2026-07-28","2025-11-25"]`, session.Modern, "2026-07-28"},
		"legacy only":  {`["2025-06-18","2024-11-05"]`, session.Legacy, "2025-06-18"},
		"future only":  {`["2031-01-01"]`, session.Legacy, "2025-11-25"},
		"not an array": {`"2026-07-28"`, session.Legacy, "2025-11-25"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
				p.Serve(func(env jsonrpc.Envelope) {
					switch env.Method {
					case "server/discover":
						p.Answer(env, `{"resultType":"complete","supportedVersions":`+c.offered+`,"capabilities":{}}`)
					case "initialize":
						p.Answer(env, `{"protocolVersion":`+string(jsonrpc.Get(env.Params, "protocolVersion"))+`,"capabilities":{},"serverInfo":{"name":"peer","version":"1"}}`)
					}
				})
			})}, config.Server{})
			if st := s.Status(); st.Era != c.era || st.Version != c.version {
				t.Errorf("era %q, version %q; want %q, %q", st.Era, st.Version, c.era, c.version)
			}
		})
	}
}
