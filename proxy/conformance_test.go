package proxy

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/peertest"
)

// The official suite passes through the router exactly as it does against the agent.
func TestConformance_R20_ThroughTheRouter(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		t.Run(revision.Name, func(t *testing.T) {
			a := features(t)
			f := start(t, Options{}, route("a", a.URL(), `"stream":true`))
			revision.Run(t, f.URL()+"/mcps/a/mcp")
		})
	}
}
