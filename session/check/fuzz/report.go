package fuzz

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
)

// count adds a call to what the report says of its target.
func (t *target) count(in input, out *outcome) {
	t.tally.Calls++
	switch in.verdict {
	case allowed:
		t.tally.Valid++
	case forbidden:
		t.tally.Wrong++
	}
	switch {
	case out.hasNoAnswer():
		t.tally.Lost++
	case out.err != nil:
		t.tally.Refused++
	case out.result.IsError:
		t.tally.Failed++
	default:
		t.tally.Answered++
	}
}

func isError(out *outcome) bool { return out.err != nil || out.result.IsError }

// report writes the figures of the section: calls by target, and why some were not made. left are tools that may not be called; err is what ended the
// run early, nil for none: then a rule that found nothing has not passed.
func (r *run) report(left int, err error) {
	type row struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		tally
		Median float64 `json:"median_ms"` // of calls with valid arguments
		Took   float64 `json:"took_ms"`   // of all calls together
		Over   string  `json:"stopped,omitempty"`
	}
	value := struct {
		Seed    uint64 `json:"seed"`
		Calls   int    `json:"calls"`
		Starts  int    `json:"connections"`
		Skipped int    `json:"not_allowed"`
		Cut     bool   `json:"out_of_time"`
		Targets []row  `json:"targets"`
	}{Seed: r.o.Seed, Starts: int(r.conns.used.Load()), Skipped: left, Cut: r.cut, Targets: []row{}}
	table := [][]string{{"what", "calls", "answered", "failed", "refused", "lost", "median", ""}}
	var read tally
	for _, t := range r.targets {
		m := median(t.times)
		if t.tally.Calls == 0 && t.stopped == "" {
			t.stopped = r.whyNotCalled(err)
			r.rec.AddSkipped("fuzz/died", t.place, t.stopped)
		}
		value.Calls += t.tally.Calls
		value.Targets = append(value.Targets, row{t.kind, t.name, t.tally, float64(m.Microseconds()) / 1000, float64(t.spent.Microseconds()) / 1000, t.stopped})
		for _, id := range []string{"fuzz/died", "fuzz/no-answer", "fuzz/accepted", "fuzz/refused"} {
			switch {
			case t.tally.Calls == 0 || err != nil || t.hasFinding(id):
			case t.limited >= t.tally.Calls:
				r.rec.AddSkipped(id, t.place, "the server said of each call that calls come too fast")
			default:
				r.rec.AddPassed(id, t.place, 0)
			}
		}
		if t.kind == check.OfResource {
			read.add(t.tally)
			continue
		}
		table = append(table, []string{
			t.kind + " " + text.Clip(t.name, 60), fmt.Sprint(t.tally.Calls), fmt.Sprint(t.tally.Answered), fmt.Sprint(t.tally.Failed), fmt.Sprint(t.tally.Refused), fmt.Sprint(t.tally.Lost),
			text.Duration(m), t.stopped,
		})
	}
	if read.Calls > 0 {
		table = append(table, []string{"resources", fmt.Sprint(read.Calls), fmt.Sprint(read.Answered), "0", fmt.Sprint(read.Refused), fmt.Sprint(read.Lost), "", ""})
	}
	notes := []string{fmt.Sprintf("seed %d: the same calls come again with it", r.o.Seed)}
	switch {
	case value.Calls == 0 && left > 0:
		table, notes = nil, []string{fmt.Sprintf("nothing was called: %d tools are not marked as read-only, and none was allowed by name", left)}
	case value.Calls == 0:
		table, notes = nil, []string{"nothing was called"}
	case left > 0:
		notes = append(notes, fmt.Sprintf("%d tools were not called: they are not marked as read-only, and were not allowed by name", left))
	}
	if r.throttles > 0 {
		notes = append(notes, fmt.Sprintf("%d calls came too fast for the server, and were not looked at", r.throttles))
	}
	if r.refusedFor > 0 {
		notes = append(notes, fmt.Sprintf("the server wants no more calls for %s, which is not waited for", text.Duration(r.refusedFor)))
	}
	if r.cut {
		notes = append(notes, "not all calls that were planned were made")
	}
	if n := r.keep.kept; n > 0 {
		notes = append(notes, fmt.Sprintf("%d failures are kept in %s", n, r.keep.dir))
	}
	r.rec.Figures(check.Figures{Value: value, Table: table, Notes: notes})
}

func (n *tally) add(o tally) {
	n.Calls, n.Answered, n.Refused, n.Lost = n.Calls+o.Calls, n.Answered+o.Answered, n.Refused+o.Refused, n.Lost+o.Lost
}

// hasFinding reports whether the rule with an id found something at the target, reported or not.
func (t *target) hasFinding(id string) bool {
	for key := range t.found {
		if len(key) > len(id) && key[:len(id)] == id {
			return true
		}
	}
	return false
}
