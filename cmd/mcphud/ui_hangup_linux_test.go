package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// A terminal that is closed, or a connection to it that is lost, ends the UI and the server that it started.
func TestUIEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	mark := "MCPHUD_TEST_HANGUP=" + filepath.Base(t.TempDir()) + time.Now().Format("150405.000000000")
	s := startUIWith(t, []string{mark}, fake(t, behave.Good)...)
	s.shows("rpc_error")
	if n := len(marked(t, mark)); n < 2 {
		t.Fatalf("%d processes, want the UI and its server", n)
	}
	require.NoError(t, s.f.Close())
	began := time.Now()
	require.Eventually(t, "both to be gone", func() bool { return len(marked(t, mark)) == 0 })
	if took := time.Since(began); took > 10*time.Second { // a loaded machine's second
		t.Errorf("it took %v", took)
	}
	if code := s.exit(); code != cli.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}
