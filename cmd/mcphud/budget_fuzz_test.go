package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
)

// TestBudgetFuzz: all that the profile hostile does wrong over stdio, a process for each answer that is lost, is found within a minute, with
// the defaults of check fuzz.
func TestBudgetFuzz(t *testing.T) {
	budget.Skip(t)
	began := time.Now()
	found, _ := fuzzed(t, append([]string{"--allow", "*"}, ownAgent(t, "hostile")...)...)
	took := time.Since(began)
	for tool, p := range hostileFaults {
		if !strings.HasPrefix(p.stdio, "- ") && !slices.Contains(found, p.stdio+" "+tool) {
			t.Errorf("%s of %s was not found", p.stdio, tool)
		}
	}
	budget.Ceiling(t, "check fuzz of the profile hostile over stdio", took, time.Minute+5*time.Second)
}
