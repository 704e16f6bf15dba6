package task

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// kinds are all tables: each function makes one, and returns a function that opens it once more, as another replica does.
var kinds = map[string]func(t *testing.T) func() Table{
	"sqlite": func(t *testing.T) func() Table {
		db, err := store.Open("")
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return func() Table { return SQL(db, quiet) }
	},
	"nats": func(t *testing.T) func() Table {
		srv := natstest.Run(t)
		return func() Table { return NATS(connect(t, srv.URL), "rig", quiet) }
	},
	"installed nats": func(t *testing.T) func() Table {
		url := installed(t)
		return func() Table { return NATS(connect(t, url), "rig", quiet) }
	},
	"postgres": func(t *testing.T) func() Table {
		url := pgtest.Run(t)
		return func() Table {
			db, err := store.Open(url)
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			return SQL(db, quiet)
		}
	},
}

// suite is what every table has to do, and what those have to that replicas share.
var suite, sharedSuite = map[string]func(*testing.T, func() Table){
	"one end": tableKeepsOneEnd, "large results": tableKeepsLargeResults, "lists": tableLists, "room": tableMakesRoom,
}, map[string]func(*testing.T, func() Table){
	"one for all": sharedTableIsOneForAllReplicas, "one winner": sharedTableHasOneWinner, "nobody works on it": sharedTableFindsWhatNobodyWorksOn,
	"both eras": replicasAnswerInBothEras, "lost": lostReplicaIsInterruptedOnce, "limits": replicasShareTheirLimits,
}

func connect(t *testing.T, url string) *natsconn.Conn {
	t.Helper()
	conn, err := natsconn.Open(t.Context(), natsconn.Options{URL: url, Name: "test", Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn
}

func testTable(t *testing.T, kind string) {
	tests := maps.Clone(suite)
	if kind != "sqlite" {
		maps.Copy(tests, sharedSuite)
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		t.Run(name, func(t *testing.T) { tests[name](t, kinds[kind](t)) })
	}
}

func TestTableOnNATS(t *testing.T)  { testTable(t, "nats") }
func TestTableInAFile(t *testing.T) { testTable(t, "sqlite") }

// Tasks of before are not taken over, which is said once.
func TestTasksOfBeforeAreCounted(t *testing.T) { tasksOfBefore(t, "") }

func tasksOfBefore(t *testing.T, path string) {
	t.Helper()
	db, err := store.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	old := `CREATE TABLE tasks (id TEXT, tool TEXT); INSERT INTO tasks VALUES ('a', 'echo'), ('b', 'echo')`
	require.NoError(t, db.Migrate(t.Context(), "tasks", store.Steps{SQLite: []string{old}, Postgres: []string{old}}))
	var log bytes.Buffer
	for range 2 {
		ready(t, SQL(db, slog.New(slog.NewTextHandler(&log, nil))), "a")
	}
	if n := strings.Count(log.String(), "tasks=2"); n != 1 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("said %d times: %s", n, &log)
	}
}

// heard is a listener that keeps what it hears.
type heard struct {
	ends    chan string
	answers chan map[string]json.RawMessage
}

func (h heard) handleEnd(id string, _ state) {
	select {
	case h.ends <- id:
	default:
	}
}

func (h heard) handleAnswers(_ string, answers map[string]json.RawMessage) { h.answers <- answers }

// ready opens a table as the replica of that name.
func ready(t *testing.T, table Table, replica string) heard {
	t.Helper()
	h := heard{make(chan string, 100), make(chan map[string]json.RawMessage, 100)}
	require.NoError(t, table.open(t.Context(), replica, h))
	t.Cleanup(table.close)
	return h
}

// entry is a new task.
func entry(table Table, change func(*record)) *record {
	now := table.now().Round(time.Millisecond)
	r := &record{
		ID: rand.Text(), Tool: "echo", Owner: owner{"ann", "t", "s"}, Created: now, Updated: now,
		Expires: now.Add(time.Hour), Modern: true, Origin: "R1", State: pending,
	}
	if change != nil {
		change(r)
	}
	return r
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func insert(t *testing.T, table Table, change func(*record)) *record {
	t.Helper()
	r := entry(table, change)
	if err := table.insert(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// over is r with an end.
func over(r *record, s state, result string) *record {
	e := *r
	e.State, e.Inputs, e.Updated = s, nil, r.Updated.Add(time.Millisecond)
	if result != "" {
		e.Result = json.RawMessage(result)
	}
	return &e
}

func settle(t *testing.T, table Table, r *record) (*record, bool) {
	t.Helper()
	end, won, err := table.settle(t.Context(), r)
	require.NoError(t, err)
	return end, won
}

func tableKeepsOneEnd(t *testing.T, open func() Table) {
	a := open()
	ready(t, a, "R1")
	r := insert(t, a, nil)
	if got := must[*record](t)(a.get(t.Context(), r.ID)); got.State != pending || got.Owner != r.Owner || got.Tool != "echo" || !got.Modern || !got.Created.Equal(r.Created) || !got.Expires.Equal(r.Expires) {
		t.Errorf("%+v", got)
	}
	r.State, r.Message, r.Inputs, r.Log = inputRequired, "how\x00far", map[string]json.RawMessage{"a": json.RawMessage(`{"m":"\u0000"}`)}, []byte("l\x00g\xff")
	require.NoError(t, a.update(t.Context(), r))
	if got := must[*record](t)(a.get(t.Context(), r.ID)); got.State != inputRequired || !strings.HasPrefix(got.Message, "how") || !bytes.Equal(got.Log, r.Log) || a.isShared() && string(got.Inputs["a"]) != `{"m":"\u0000"}` {
		t.Errorf("%+v", got)
	}
	first := over(r, completed, `{"content":[]}`)
	if end, won := settle(t, a, first); !won || end.State != completed {
		t.Errorf("%v %+v", won, end)
	}
	later := over(r, failed, "")
	later.Error = jsonrpc.Errorf(jsonrpc.KindTimeout, "late").RPC(true)
	if end, won := settle(t, a, later); won || end.State != completed || string(end.Result) != `{"content":[]}` {
		t.Errorf("the second end: %v %+v", won, end)
	}
	if err := a.update(t.Context(), r); err != errOver {
		t.Errorf("afterwards: %v", err)
	}
	if got := must[*record](t)(a.get(t.Context(), r.ID)); got.State != completed || string(got.Result) != `{"content":[]}` || got.Error != nil || got.Inputs != nil || !bytes.Equal(got.Log, r.Log) {
		t.Errorf("%+v", got)
	}
	if end, won := settle(t, a, over(entry(a, nil), completed, "")); won || end != nil {
		t.Errorf("one that is not there: %v %+v", won, end)
	}
	if got := must[*record](t)(a.get(t.Context(), "NONE")); got != nil {
		t.Errorf("%+v", got)
	}
	wrong := insert(t, a, nil)
	bad := over(wrong, failed, "")
	bad.Error = &jsonrpc.Error{Code: -31000, Message: "no", Data: json.RawMessage(`{"kind":"interrupted"}`)}
	settle(t, a, bad)
	if got := must[*record](t)(a.get(t.Context(), wrong.ID)); got.State != failed || got.Error == nil || got.Error.Code != -31000 || string(got.Error.Data) != `{"kind":"interrupted"}` || got.Result != nil {
		t.Errorf("%+v", got)
	}
}

func tableKeepsLargeResults(t *testing.T, open func() Table) {
	a := open()
	ready(t, a, "R1")
	for _, n := range []int{100, 8 << 10, 200 << 10, 300 << 10, 3 << 20} {
		r := insert(t, a, nil)
		want := `"` + strings.Repeat("x", n) + `"`
		settle(t, a, over(r, completed, want))
		if got := must[*record](t)(a.get(t.Context(), r.ID)); string(got.Result) != want {
			t.Errorf("%d bytes: %d", n, len(got.Result))
		}
		if end, won := settle(t, a, over(r, completed, `"other"`)); won || string(end.Result) != want {
			t.Errorf("%d bytes: the second end is %v, with %d", n, won, len(end.Result))
		}
	}
	if u := a.usageByTenant()["t"]; u.tasks != 5 || u.bytes < 3<<20 {
		t.Errorf("%+v", u)
	}
}

func tableLists(t *testing.T, open func() Table) {
	a := open()
	ready(t, a, "R1")
	var mine []string
	for i := range 7 {
		r := insert(t, a, nil)
		mine = append(mine, r.ID)
		insert(t, a, func(r *record) { r.Owner.Principal = "bob" })
		insert(t, a, func(r *record) { r.Owner.Tenant = "u" })
		if i%2 == 0 { // changes do not change the order
			settle(t, a, over(r, completed, `{}`))
		}
	}
	slices.Reverse(mine)
	var got []string
	var before int64
	for {
		page, last, err := a.list(t.Context(), owner{"ann", "t", "elsewhere"}, before, 3)
		require.NoError(t, err)
		for _, r := range page {
			got = append(got, r.ID)
		}
		if len(page) < 3 {
			break
		}
		before = last
	}
	if !slices.Equal(got, mine) {
		t.Errorf("listed %v, want %v", got, mine)
	}
	insert(t, a, func(r *record) { r.Owner = owner{"", "t", "s1"} })
	insert(t, a, func(r *record) { r.Owner = owner{"", "t", "s2"} })
	if page, _, err := a.list(t.Context(), owner{"", "t", "s1"}, 0, 9); err != nil || len(page) != 1 || page[0].Owner.Session != "s1" {
		t.Errorf("%d of the session, %v", len(page), err)
	}
}

func tableMakesRoom(t *testing.T, open func() Table) {
	a := open()
	ready(t, a, "R1")
	count := func(tenant string) usage {
		t.Helper()
		require.NoError(t, a.count(t.Context()))
		return a.usageByTenant()[tenant]
	}
	running := insert(t, a, nil)
	old := insert(t, a, nil)
	young := insert(t, a, nil)
	soon := insert(t, a, func(r *record) { r.Owner.Tenant, r.Expires = "u", r.Created.Add(-time.Millisecond) })
	settle(t, a, over(young, completed, `"young"`))
	last := over(old, completed, `"old"`)
	last.Updated = last.Updated.Add(time.Second)
	settle(t, a, last)
	if u := count("t"); u.tasks != 3 || u.bytes != int64(len(`"young""old"`)) || a.isShared() && u.open != 1 {
		t.Errorf("%+v", u)
	}
	if must[bool](t)(a.evict(t.Context(), "t", young.Updated)) {
		t.Error("one gave way that ended later than that")
	}
	if !must[bool](t)(a.evict(t.Context(), "t", young.Updated.Add(time.Millisecond))) {
		t.Error("nothing gave way")
	}
	if got := must[*record](t)(a.get(t.Context(), young.ID)); got != nil {
		t.Error("what ended first is still there")
	}
	if got := must[*record](t)(a.get(t.Context(), old.ID)); got == nil {
		t.Error("what has just ended gave way, since it began first")
	}
	if !must[bool](t)(a.evict(t.Context(), "t", time.Time{})) || must[bool](t)(a.evict(t.Context(), "t", time.Time{})) || must[bool](t)(a.evict(t.Context(), "u", time.Time{})) {
		t.Error("what is not over gave way, or what is did not")
	}
	if got := must[*record](t)(a.get(t.Context(), soon.ID)); got != nil {
		t.Errorf("expired: %+v", got)
	}
	first := must[time.Time](t)(a.expire(t.Context()))
	if !first.Equal(running.Expires) {
		t.Errorf("the next expires at %v, not %v", first, running.Expires)
	}
	if u := count("u"); u != (usage{}) {
		t.Errorf("%+v", u)
	}
	if u := count("t"); u.tasks != 1 || u.bytes != 0 {
		t.Errorf("%+v", u)
	}
}
