package runner

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// How long a call took does not include how long it takes to judge it.
func TestBatchTimesTheCallAlone(t *testing.T) {
	t.Parallel()
	m := session.NewManager(session.Options{})
	t.Cleanup(func() { _ = m.Close() })
	s, err := m.Register(config.OfCommand("none"))
	require.NoError(t, err)
	const judging = 300 * time.Millisecond
	maker := &calls.Runner{Session: s, Explain: func(_ context.Context, err error) *failure.Error {
		time.Sleep(judging)
		return cli.Explain(t.Context(), err)
	}}
	r := &batchRun{l: &cli.Link{Session: s, Out: &output.Printer{}}, b: &Batching{}, maker: maker}
	if c := r.call(t.Context(), 0, calls.Call{Method: calls.ToolsCall, Target: "x"}); c.err == nil || c.Took >= output.Ms(judging) {
		t.Errorf("took %v ms, %v", c.Took, c.err)
	}
}
