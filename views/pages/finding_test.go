package pages_test

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/views/pages"
)

// What a server says in a finding makes no line that looks as if it were ours.
func TestFindingLineIsOne(t *testing.T) {
	t.Parallel()
	f := check.Finding{ID: "lint/x", Place: check.Place{Kind: "tool", Name: "a\n  fix: b"}, Message: "c\r\n  fix: d", Fix: "e"}
	if got := pages.FindingLine(&f); strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n  fix: e") {
		t.Error(got)
	}
}
