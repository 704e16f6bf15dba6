package stats_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A script is a journal that a test writes.
type script struct {
	*journal.Journal
	at time.Time
}

func newScript(t testing.TB, o journal.Options) *script {
	o.Dir = t.TempDir()
	j := journal.New(o)
	t.Cleanup(func() { _ = j.Close() })
	return &script{j, time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
}

func (s *script) add(after time.Duration, server string, d journal.Dir, k journal.Kind, id, method, body string) {
	s.Append(journal.Entry{Server: server, Conn: 1, Dir: d, Kind: k, ID: id, Method: method, Time: s.at.Add(after)}, []byte(body))
}

// call is a call of a tool and, if it takes any time, its answer.
func (s *script) call(after, took time.Duration, server, tool, id string, ok bool) {
	s.add(after, server, journal.Out, journal.Request, id, "tools/call", fmt.Sprintf(`{"id":%s,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":%s}}}`, id, tool, id))
	switch {
	case took == 0:
	case ok:
		s.add(after+took, server, journal.In, journal.Response, id, "", `{"result":{}}`)
	default:
		s.add(after+took, server, journal.In, journal.ErrorResponse, id, "", `{"error":{}}`)
	}
}

func TestNumbers(t *testing.T) {
	s := newScript(t, journal.Options{})
	for i := range 100 {
		s.call(time.Duration(i)*time.Second, time.Duration(i+1)*time.Millisecond, "files", "read", fmt.Sprint(i+1), i%4 != 0)
	}
	s.call(100*time.Second, 0, "files", "read", "1000", true)
	s.call(101*time.Second, 0, "kb", "find", "1001", true)
	s.add(102*time.Second, "kb", journal.Out, journal.Notification, "", "notifications/cancelled", `{"method":"notifications/cancelled","params":{"requestId":1001}}`)
	s.add(103*time.Second, "kb", journal.In, journal.Response, "1001", "", `{"result":{"late":true}}`)
	s.Append(journal.Entry{Server: "kb", Hop: "router", Kind: journal.Span, Method: "route", Took: time.Second, Status: journal.OK, Time: s.at}, nil)

	var n stats.Numbers
	if !n.Update(t.Context(), s.Journal) {
		t.Fatal("it did not take in all")
	}
	rows := n.Rows(stats.ByCalls)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	r := rows[0]
	if r.Key != (stats.Key{Server: "files", Method: "tools/call", Tool: "read"}) || r.Calls != 101 || r.Failed != 25 || r.Pending != 1 || r.ErrorRate() != 0.25 {
		t.Errorf("%+v: %d calls, %d failed, %d pending", r.Key, r.Calls, r.Failed, r.Pending)
	}
	for q, want := range map[float64]time.Duration{0.5: 50 * time.Millisecond, 0.95: 95 * time.Millisecond, 0.99: 99 * time.Millisecond, 1: 100 * time.Millisecond} {
		if got := r.Quantile(q); math.Abs(float64(got-want)) > float64(want)/60 {
			t.Errorf("quantile %v: %v, not %v", q, got, want)
		}
	}
	var bytes int64
	s.Each(0, func(e *journal.Entry) bool {
		if e.Server == "files" {
			bytes += int64(e.Size)
		}
		return true
	})
	if r.Bytes != bytes {
		t.Errorf("%d bytes, not %d", r.Bytes, bytes)
	}
	calls, failed := 0, 0
	for _, b := range n.Total().Series {
		calls, failed = calls+b.Calls, failed+b.Failed
	}
	if calls != 103 || failed != 25 || n.Total().Calls != 103 {
		t.Errorf("the series have %d calls and %d failures", calls, failed)
	}
	if start, bucket := n.Span(); !start.Equal(s.at) || bucket*stats.Buckets < 101*time.Second || bucket*stats.Buckets > 400*time.Second {
		t.Errorf("%d buckets of %v from %v", stats.Buckets, bucket, start)
	}
	kb := n.Rows(stats.ByName)[1]
	if kb.Cancelled != 1 || kb.Pending != 0 || kb.Failed != 0 {
		t.Errorf("%+v", kb.Key)
	}
	if top := n.Rows(stats.ByP99)[0]; top.Hop != "router" || top.Quantile(0.5) != time.Second {
		t.Errorf("the slowest is %+v with %v", top.Key, top.Quantile(0.5))
	}
}

// Numbers that are counted while entries arrive are those that are counted at once.
func TestNumbersGrow(t *testing.T) {
	s := newScript(t, journal.Options{})
	var grown stats.Numbers
	for i := range 300 {
		s.call(time.Duration(i*i)*time.Millisecond, time.Duration(i%7)*time.Millisecond, "a", fmt.Sprint("t", i%3), fmt.Sprint(i), i%5 > 0)
		grown.Update(t.Context(), s.Journal)
	}
	var whole stats.Numbers
	whole.Update(t.Context(), s.Journal)
	for i, r := range whole.Rows(stats.ByName) {
		g := grown.Rows(stats.ByName)[i]
		if g.Calls != r.Calls || g.Failed != r.Failed || g.Pending != r.Pending || g.Bytes != r.Bytes || g.Series != r.Series || g.Quantile(0.95) != r.Quantile(0.95) {
			t.Errorf("%v: grown %+v, at once %+v", r.Key, g.Series, r.Series)
		}
	}
}

func TestNumbersOfSome(t *testing.T) {
	s := newScript(t, journal.Options{})
	s.call(0, time.Millisecond, "a", "x", "1", true)
	s.call(time.Minute, time.Millisecond, "a", "y", "2", true)
	only, err := filter.Parse("tool:y")
	require.NoError(t, err)
	n := stats.Numbers{Only: only}
	n.Update(t.Context(), s.Journal)
	if rows := n.Rows(stats.ByCalls); len(rows) != 1 || rows[0].Tool != "y" || n.Total().Calls != 1 {
		t.Errorf("%d rows, %d calls", len(rows), n.Total().Calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 3000 {
		s.call(time.Hour, time.Millisecond, "a", "y", fmt.Sprint(i+10), true)
	}
	if n.Update(ctx, s.Journal) {
		t.Error("it went on after it was cancelled")
	}
	if !n.Update(t.Context(), s.Journal) || n.Total().Calls != 3001 {
		t.Errorf("%d calls", n.Total().Calls)
	}
}

// bars are the bars of a view as text: row, columns and state.
func bars(v stats.View) (out string) {
	for _, b := range v.Bars {
		out += fmt.Sprintf("%d:%d-%d/%d ", b.Row, b.From, b.To, b.Call.State)
	}
	return out
}

func TestLanes(t *testing.T) {
	s := newScript(t, journal.Options{})
	s.call(0, 10*time.Second, "a", "x", "1", true)
	s.call(5*time.Second, 0, "a", "x", "2", false)
	s.add(7*time.Second, "a", journal.In, journal.Notification, "", "notifications/progress", `{"method":"notifications/progress","params":{"progressToken":2,"progress":1}}`)
	s.add(15*time.Second, "a", journal.In, journal.ErrorResponse, "2", "", `{"error":{}}`)
	s.call(20*time.Second, 0, "b", "y", "1", true)
	s.add(22*time.Second, "b", journal.In, journal.Request, "77", "elicitation/create", `{"id":77,"method":"elicitation/create"}`)
	s.call(30*time.Second, time.Second, "a", "x", "3", true)
	s.Append(journal.Entry{Server: "a", Hop: "router", Kind: journal.Span, Method: "route", Took: 5 * time.Second, Status: journal.OK, Time: s.at.Add(time.Second)}, nil)
	var l stats.Lanes
	l.Update(t.Context(), s.Journal)
	all := l.All()
	if len(all) != 3 || all[0].Server != "a" || all[1].Server != "b" || all[2].Hop != "router" {
		t.Fatalf("%d lanes", len(all))
	}
	from := s.at.UnixNano()
	w := stats.Window{From: from, To: from + int64(40*time.Second), Columns: 40, Now: from + int64(35*time.Second)}
	assert.Equalf(t, bars(all[0].View(w, 4)), "0:0-10/1 1:5-15/2 0:30-31/1 ", "the bars of a")
	if v := all[0].View(w, 1); v.Hidden != 1 || bars(v) != "0:0-10/1 0:30-31/1 " {
		t.Errorf("on one row: %s, %d hidden", bars(v), v.Hidden)
	}
	b := all[1].View(w, 4)
	if bars(b) != "0:20-35/0 1:22-35/0 " || len(b.Marks) != 1 || b.Marks[0] != (stats.Mark{Row: 0, Column: 22, Round: true}) {
		t.Errorf("b: %s %+v", bars(b), b.Marks)
	}
	assert.Equalf(t, bars(all[2].View(w, 4)), "0:1-6/1 ", "the span")
	if m := all[0].View(w, 4).Marks; len(m) != 1 || m[0] != (stats.Mark{Row: 1, Column: 7}) {
		t.Errorf("marks %+v", m)
	}
	part := stats.Window{From: from + int64(12*time.Second), To: from + int64(13*time.Second), Columns: 10, Now: w.Now}
	assert.Equalf(t, bars(all[0].View(part, 4)), "0:0-10/2 ", "within a call")
	if first, last := l.Range(); first != from || last != from+int64(31*time.Second) {
		t.Errorf("from %d to %d", first-from, last-from)
	}
}

// A stream that stays open as long as its connection does not cover the calls of its lane.
func TestLanesLeaveStreamsOut(t *testing.T) {
	s := newScript(t, journal.Options{})
	s.add(0, "a", journal.Out, journal.Request, "1", "subscriptions/listen", `{"id":1,"method":"subscriptions/listen"}`)
	s.call(time.Second, time.Second, "a", "x", "2", true)
	var l stats.Lanes
	l.Update(t.Context(), s.Journal)
	from, to := l.Range()
	assert.Equalf(t, bars(l.All()[0].View(stats.Window{From: from, To: to, Columns: 10, Now: to}, 1)), "0:0-10/1 ", "the bars")
}

// Of many calls a lane has their number in each column; they add up to what there is.
func TestLanesOfMany(t *testing.T) {
	s := newScript(t, journal.Options{})
	const n = 5000
	for i := range n {
		s.call(time.Duration(i)*time.Millisecond, 500*time.Microsecond, "a", "x", fmt.Sprint(i), i%10 > 0)
	}
	var l stats.Lanes
	l.Update(t.Context(), s.Journal)
	from, to := l.Range()
	for _, columns := range []int{1, 7, 60} {
		v := l.All()[0].View(stats.Window{From: from, To: to + 1, Columns: columns}, 4)
		calls, failed := 0, 0
		for _, b := range v.Bins {
			calls, failed = calls+b.Calls, failed+b.Failed
		}
		if calls != n || failed != n/10 || v.Calls != n {
			t.Errorf("%d columns: %d calls, %d failed, %d in the window", columns, calls, failed, v.Calls)
		}
	}
	if v := l.All()[0].View(stats.Window{From: from, To: from + int64(100*time.Millisecond), Columns: 60}, 4); v.Bins != nil || len(v.Bars) != 101 {
		t.Errorf("%d bars, %d bins", len(v.Bars), len(v.Bins))
	}
}

// Calls that the journal drops are dropped, and those that go on end all the same.
func TestLanesDrop(t *testing.T) {
	s := newScript(t, journal.Options{Entries: 2048})
	var l stats.Lanes
	var n stats.Numbers
	for i := range 20_000 {
		s.call(time.Duration(i)*time.Millisecond, time.Duration(i%3)*time.Millisecond, "a", "x", fmt.Sprint(i), true)
		if i%50 == 0 {
			l.Update(t.Context(), s.Journal)
			n.Update(t.Context(), s.Journal)
		}
	}
	l.Update(t.Context(), s.Journal)
	n.Update(t.Context(), s.Journal)
	calls := l.All()[0].Calls
	if len(calls) > 4000 || calls[len(calls)-1].Seq+2 < s.First()+uint64(s.Len())-1 {
		t.Errorf("%d calls are kept, of %d entries", len(calls), s.Len())
	}
	for _, c := range calls {
		if e, ok := s.Get(c.Seq); ok && (e.Status == journal.Pending) != (c.State == stats.Running) {
			t.Fatalf("call %d is %v, its request %s", c.Seq, c.State, e.Status)
		}
	}
	assert.Equalf(t, n.Total().Calls, 20_000, "calls were counted")
}
