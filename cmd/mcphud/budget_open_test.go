//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A file of a million frames is on the screen at once, and all of it can be used.
func TestBudgetOpenMillionFrames(t *testing.T) {
	budget.Skip(t)
	name := sessiontest.JournalFile(t, 1_000_000)
	sc := show(t, "open", name)
	budget.Ceiling(t, "a file of 1,000,000 frames (1.5 GB), exec to first rows on the screen", sc.until("tools/call", "tool1"), 2*time.Second)
	sc.press("/tool:=tool7\r")
	budget.Ceiling(t, "a file of 1,000,000 frames (1.5 GB), filtered on the screen", sc.until("10000 of", "000 of 5") /* of what stands there already, nothing is drawn */, 5*time.Second)
	budget.Size(t, "a file of 1,000,000 frames (1.5 GB), peak memory of the process", sc.memory("VmHWM"), 300_000_000, 1)
}
