package proxy

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/peertest"
)

// The official suite passes through the router exactly as it does against the agent.
func TestConformance_R20_ThroughTheRouter(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		t.Run(revision.Name, func(t *testing.T) {
			a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Everything})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				if err := a.Close(ctx); err != nil {
					t.Error(err)
				}
			})
			f := start(t, Options{}, route("a", a.URL(), `"stream":true`))
			revision.Run(t, f.URL()+"/mcps/a/mcp")
		})
	}
}
