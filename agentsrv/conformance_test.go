package agentsrv_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// start serves an agent until the test ends, and returns the URL of its endpoint.
func start(t *testing.T, o agentsrv.Options) string {
	t.Helper()
	a, err := agentsrv.New(o)
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("close the agent: %v", err)
		}
	})
	return a.URL()
}

// The official suite, frozen at the release of each revision.
func TestConformance(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		t.Run(revision.Name, func(t *testing.T) {
			revision.Run(t, start(t, agentsrv.Options{Profile: agentsrv.Everything}))
		})
	}
}

func tail(out []byte) string {
	const keep = 4 << 10
	if len(out) > keep {
		return "… " + string(out[len(out)-keep:])
	}
	return string(out)
}
