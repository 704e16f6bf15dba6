package safety

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	alone     = 2 * time.Second // of calls that take longer something else may have happened meanwhile
	leastSeen = 2               // calls that have to show the same
)

// signs are the notifications that the server sent during calls of one tool.
type signs struct {
	calls   int // that were the only ones at their time, and quick
	changed int // during which the server said that resources changed
}

// readBehaviour reads from a journal which tools change something: while nothing else goes on, the server says that a resource changed. A
// connection on which it says so at other times too, as after the answer to a call, shows nothing of any tool. Whether a second call has a
// further effect cannot be seen: one that fails has none either.
func (r *results) readBehaviour(j *journal.Journal) {
	type line struct {
		server string
		conn   uint64
	}
	type going struct {
		open    map[uint64]bool   // requests of the client that are not answered yet, by Seq
		only    string            // the tool whose call is the only one, "" for none
		seq     uint64            // of that call
		changed bool              // the server said so since that call began
		noisy   bool              // it said so while no call was the only one
		signs   map[string]*signs // by tool
	}
	lines := map[line]*going{}
	j.Each(0, func(e *journal.Entry) bool {
		if e.Hop != "" || !r.isOwn(e.Server) { // a hop records what a client records too
			return true
		}
		at := lines[line{e.Server, e.Conn}]
		if at == nil {
			at = &going{open: map[uint64]bool{}, signs: map[string]*signs{}}
			lines[line{e.Server, e.Conn}] = at
		}
		switch {
		case e.Dir == journal.Out && (e.Kind == journal.Request || e.Kind == journal.Notification):
			at.only = ""
			if e.Kind == journal.Request && e.Peer > 0 { // one without an answer would be open for good
				if len(at.open) == 0 && e.Method == "tools/call" && e.Took <= alone {
					at.only, at.seq, at.changed = e.Tool, e.Seq, false
				}
				at.open[e.Seq] = true
			}
		case e.Dir == journal.In && (e.Kind == journal.Response || e.Kind == journal.ErrorResponse):
			delete(at.open, e.Peer)
			if at.only == "" || e.Peer != at.seq {
				break
			}
			s := at.signs[at.only]
			if s == nil {
				s = &signs{}
				at.signs[at.only] = s
			}
			s.calls++
			if at.changed {
				s.changed++
			}
			at.only = ""
		case e.Dir == journal.In && e.Kind == journal.Notification && (e.Method == "notifications/resources/updated" || e.Method == "notifications/resources/list_changed"):
			at.changed = true
			at.noisy = at.noisy || at.only == ""
		}
		return true
	})
	for _, at := range lines {
		for tool, s := range at.signs {
			if at.noisy {
				continue
			}
			if r.signs[tool] == nil {
				r.signs[tool] = &signs{}
			}
			r.signs[tool].calls += s.calls
			r.signs[tool].changed += s.changed
		}
	}
}

// reportContradictions compares what tools say of themselves with what their calls did. A tool counts where each of its calls shows a change.
func (r *results) reportContradictions(x *examination) {
	for _, name := range slices.Sorted(maps.Keys(r.signs)) {
		s := r.signs[name]
		if s.calls < leastSeen || s.changed < s.calls {
			continue
		}
		for _, it := range r.s.Tools {
			if it.Name == name && it.ReadOnly() {
				x.add("hint-contradicts", check.Finding{
					Place: withPointer(r.known["tools/call "+name], "/annotations/readOnlyHint"), Key: "behaviour", Sure: check.Likely,
					Message:  fmt.Sprintf("readOnlyHint is true, and during each of %d calls the server said that resources changed", s.calls),
					Evidence: "no such notification came at another time",
				})
				break
			}
		}
	}
}
