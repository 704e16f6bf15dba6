package session

import (
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// A server that answers server/discover decides by the versions that it offers there: a legacy one is met with initialize.
func TestDiscoverDecidesByItsVersions(t *testing.T) {
	cases := map[string]struct {
		offered string
		era     Era
		version string
	}{
		"modern":       {`["2026-07-28","2025-11-25"]`, Modern, "2026-07-28"},
		"legacy only":  {`["2025-06-18","2024-11-05"]`, Legacy, "2025-06-18"},
		"future only":  {`["2031-01-01"]`, Legacy, "2025-11-25"},
		"not an array": {`"2026-07-28"`, Legacy, "2025-11-25"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, s := open(t, Options{Dial: dialPeer(func(_ int, p *peer) {
				p.serve(func(env jsonrpc.Envelope) {
					switch env.Method {
					case "server/discover":
						p.answer(env, `{"resultType":"complete","supportedVersions":`+c.offered+`,"capabilities":{}}`)
					case "initialize":
						p.answer(env, `{"protocolVersion":`+string(memberOf(env.Params, "protocolVersion"))+`,"capabilities":{},"serverInfo":{"name":"peer","version":"1"}}`)
					}
				})
			})}, config.Server{})
			if st := s.Status(); st.Era != c.era || st.Version != c.version {
				t.Errorf("era %q, version %q; want %q, %q", st.Era, st.Version, c.era, c.version)
			}
		})
	}
}
