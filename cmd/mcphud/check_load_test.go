package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// Our own agent takes a gentle load, and a server that dies under it is a finding.
func TestCheckLoad(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--ephemeral").url
	o := mcphud(t, "check", "load", "--load-for", "500ms", "--slo", "errors<1%", "--format", "json", "--url", url)
	var r check.Report
	if err := json.Unmarshal([]byte(o.out), &r); err != nil || o.code != 0 || r.Counts.Error != 0 || !strings.Contains(string(r.Sections[1].Figures), `"rate_held":`) {
		t.Errorf("exit %d, %v\n%s%s", o.code, err, o.out, o.stderr)
	}
	o = mcphud(t, "check", "load", "--load-for", "200ms", "--slo", "p50<1ns", "--format", "text", "--url", url)
	if o.code != cli.ExitAssertion || !strings.Contains(o.out, "load/slo") || !strings.Contains(o.out, "8 clients") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	for _, args := range [][]string{{"--slo", "p50<fast"}, {"--load-rate", "1e9"}, {"--load-for", "-1s"}} {
		if o := mcphud(t, slices.Concat([]string{"check", "load", "--url", url}, args)...); o.code != cli.ExitFailure {
			t.Errorf("%q: exit %d\n%s", args, o.code, o.stderr)
		}
	}
	o = mcphud(t, fake(t, behave.Duplicate, "check", "load", "--load-for", "200ms", "--format", "json")...)
	if o.code != 0 || !strings.Contains(o.out, `"name":"load"`) {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}
