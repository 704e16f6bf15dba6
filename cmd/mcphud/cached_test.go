package main

import (
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
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
		s.settle()
	}
	s.shows("capacity")
	s.settle()
	if _, err := s.f.WriteString("\x07"); err != nil {
		t.Fatal(err)
	}
	s.shows("cached ")
	if o := mcphud(t, "tools", "call", "queue_status", "--cache", "5m", "--url", url); o.code != exitFailure {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := mcphud(t, "--cache", "-5m", url); o.code != exitFailure || o.errorLine(t).Kind != "Usage" {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
