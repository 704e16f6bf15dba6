package main

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
)

// mcphud --cache TTL shows the result of an equal call again, marked; commands that make one call have no use for the flag.
func TestF6_CacheOfTheUI(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	s := startUI(t, "--cache", "5m", url)
	s.shows("queue_status")
	for _, keys := range []string{"/queue_status\r", "\r", "\x07"} {
		if _, err := s.f.WriteString(keys); err != nil {
			t.Fatal(err)
		}
		s.settle(300 * time.Millisecond)
	}
	s.shows("capacity")
	require.Eventually(t, "a call that is answered by the cache", func() bool {
		s.settle(300 * time.Millisecond) // a call that is still on its way is not made twice
		_, _ = s.f.WriteString("\x07")
		return strings.Contains(s.written(), "cached ")
	})
	mcphud(t, "tools", "call", "queue_status", "--cache", "5m", "--url", url).exits(t, cli.ExitFailure)
	if o := mcphud(t, "--cache", "-5m", url); o.code != cli.ExitFailure || o.errorLine(t).Kind != "Usage" {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
