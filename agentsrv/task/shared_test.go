package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// eventually waits for what another replica has to hear of.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}

func sharedTableIsOneForAllReplicas(t *testing.T, open func() Table) {
	a, b := open(), open()
	hears := ready(t, a, "R1")
	ready(t, b, "R2")
	for _, table := range []Table{a, b} {
		if _, err := table.heartbeat(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	r := insert(t, a, nil)
	if got := must[*record](t)(b.get(t.Context(), r.ID)); got == nil || got.Origin != "R1" {
		t.Fatalf("%+v", got)
	}
	waited := make(chan *record, 1)
	go func() {
		got, err := b.wait(t.Context(), r.ID)
		assert.NoError(t, err)
		waited <- got
	}()
	require.NoError(t, b.answer(t.Context(), r, map[string]json.RawMessage{"a": json.RawMessage(`{"x":1}`)}))
	var answers map[string]json.RawMessage
	eventually(t, "the answer is there", func() bool {
		if _, err := a.heartbeat(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		select {
		case answers = <-hears.answers:
			return true
		default:
			return false
		}
	})
	if string(answers["a"]) != `{"x":1}` {
		t.Errorf("%s", answers)
	}
	settle(t, b, over(r, cancelled, ""))
	if got := <-waited; got == nil || got.State != cancelled {
		t.Errorf("%+v", got)
	}
	if end, won := settle(t, a, over(r, completed, `{}`)); won || end.State != cancelled {
		t.Errorf("%v %+v", won, end)
	}
	eventually(t, "the other one counts it too", func() bool {
		require.NoError(t, b.count(t.Context()))
		return b.usageByTenant()["t"].tasks == 1 && b.usageByTenant()["t"].open == 0
	})
}

func sharedTableHasOneWinner(t *testing.T, open func() Table) {
	tables := []Table{open(), open(), open()}
	for i, table := range tables {
		ready(t, table, fmt.Sprintf("R%d", i+1))
	}
	for range 10 {
		r := insert(t, tables[0], nil)
		var wins atomic.Int32
		var all sync.WaitGroup
		ends := make([]*record, len(tables))
		for i, table := range tables {
			all.Go(func() {
				end, won, err := table.settle(t.Context(), over(r, completed, fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
					return
				}
				if ends[i] = end; won {
					wins.Add(1)
				}
			})
			all.Go(func() {
				up := *r
				up.State = running
				if err := table.update(t.Context(), &up); err != nil && err != errOver {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		if wins.Load() != 1 || string(ends[0].Result) != string(ends[1].Result) || string(ends[1].Result) != string(ends[2].Result) {
			t.Fatalf("%d won: %s %s %s", wins.Load(), ends[0].Result, ends[1].Result, ends[2].Result)
		}
	}
}

// A replica whose clock is off keeps and removes tasks at the time of the server.
func TestClockThatIsOff(t *testing.T) {
	srv := natstest.Run(t)
	off := func(by time.Duration) *kvTable {
		table := NATS(connect(t, srv.URL), "rig", quiet).(*kvTable)
		table.clock = func() time.Time { return time.Now().Add(by) }
		ready(t, table, fmt.Sprint("R", by.Minutes()))
		return table
	}
	right, slow, fast := off(0), off(-3*time.Hour), off(3*time.Hour)
	for _, table := range []*kvTable{right, slow, fast} {
		if d := time.Until(table.now()).Abs(); d > time.Minute {
			t.Errorf("%s is off by %v", table.replica, d)
		}
		r := insert(t, table, func(r *record) { r.Origin = table.replica })
		for _, other := range []*kvTable{right, slow, fast} {
			eventually(t, "the others know of it", func() bool { _, ok := other.index.get(r.ID); return ok })
			if _, err := other.expire(t.Context()); err != nil {
				t.Error(err)
			}
			if got, err := other.get(t.Context(), r.ID); err != nil || got == nil || time.Until(got.Expires) < 50*time.Minute || time.Until(got.Expires) > 70*time.Minute {
				t.Errorf("of %s at %s: %+v, %v", table.replica, other.replica, got, err)
			}
			if open, err := other.heartbeat(t.Context(), time.Minute); err != nil || slices.ContainsFunc(open, func(r *record) bool { return r.Origin != other.replica }) {
				t.Errorf("%s takes another one for gone: %v, %v", other.replica, open, err)
			}
		}
	}
}

func TestLeftOverResultsAreRemoved(t *testing.T) {
	table := NATS(connect(t, natstest.Run(t).URL), "rig", quiet).(*kvTable)
	ready(t, table, "R1")
	require.NoError(t, table.removeOrphans(t.Context(), 0))
	r := insert(t, table, nil)
	settle(t, table, over(r, completed, `"`+strings.Repeat("x", 300<<10)+`"`))
	if _, err := table.objects.PutString(t.Context(), "v.GONE.X", "of a task that is gone"); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		all, err := table.objects.List(t.Context())
		require.NoError(t, err)
		return len(all)
	}
	if err := table.removeOrphans(t.Context(), time.Hour); err != nil || count() != 2 {
		t.Errorf("%v, %d are left of 2 young ones", err, count())
	}
	if err := table.removeOrphans(t.Context(), -time.Minute); err != nil || count() != 1 { // the server's clock is known to within milliseconds
		t.Errorf("%v, %d are left", err, count())
	}
	if got := must[*record](t)(table.get(t.Context(), r.ID)); len(got.Result) < 300<<10 {
		t.Errorf("%d bytes of a task that is there", len(got.Result))
	}
}

func sharedTableFindsWhatNobodyWorksOn(t *testing.T, open func() Table) {
	a, b := open(), open()
	ready(t, a, "R1")
	ready(t, b, "R2")
	beat := func(table Table) (open []string) {
		t.Helper()
		records, err := table.heartbeat(t.Context(), time.Minute)
		require.NoError(t, err)
		for _, r := range records {
			open = append(open, r.ID)
		}
		return open
	}
	beat(a)
	r := insert(t, a, nil)
	settle(t, a, over(insert(t, a, nil), completed, `{}`))
	if got := beat(a); len(got) != 1 || got[0] != r.ID {
		t.Errorf("its own: %v", got)
	}
	if got := beat(b); len(got) != 0 {
		t.Errorf("those of a replica that is alive: %v", got)
	}
	a.close()
	eventually(t, "the replica is gone", func() bool { got := beat(b); return len(got) == 1 && got[0] == r.ID })
}
