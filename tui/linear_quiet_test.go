package tui

import "testing"

// A process that had no processor does not take that for quiet, but not forever.
func TestLinearQuietIsNotLateness(t *testing.T) {
	q := startQuiet()
	defer q.Stop()
	if !q.overAt(q.due.Add(linearLate)) {
		t.Error("noticed in time: not over")
	}
	for i := range linearMost {
		if q.overAt(q.due.Add(2 * linearLate)) {
			t.Fatalf("noticed late for the %d. time: over", i+1)
		}
	}
	if !q.overAt(q.due.Add(2 * linearLate)) {
		t.Error("it never ends")
	}
	q.again()
	if q.overAt(q.due.Add(2 * linearLate)) {
		t.Error("something happened, and lateness before it counts still")
	}
}
