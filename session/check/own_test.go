package check_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
)

// What a section could not do on this machine says nothing about the server: it is the error of the run, and no finding.
func TestOwnFaultsAreNoFindings(t *testing.T) {
	for kind, findings := range map[failure.Kind]int{failure.Usage: 0, failure.Protocol: 1} {
		fails := func(context.Context, *check.Subject, *check.Recorder) error {
			return &failure.Error{Kind: kind, Message: "cannot write a.lock"}
		}
		for name, one := range map[string]check.Section{"run": section{"first", fails}, "after": last{section{"first", nothing}, fails}} {
			r, err := check.Run(t.Context(), &check.Subject{}, []check.Section{one}, check.Tool{}, check.Watch{})
			if err != nil || len(r.Findings) != findings || r.Counts.Error != findings || r.Sections[1].Error != "cannot write a.lock" {
				t.Errorf("%s, %s: %v %q %+v", kind, name, err, ids(r), r.Sections)
			}
			var own *failure.Error
			if is := errors.As(r.Own(), &own); is == (findings > 0) {
				t.Errorf("%s, %s: %v", kind, name, r.Own())
			}
		}
	}
}
