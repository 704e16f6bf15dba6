package entity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func graph(t *testing.T, path string) *Graph {
	t.Helper()
	db, err := store.Open(pgtest.Path(t, path))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return New(db)
}

func TestDemoGraphIsWhole(t *testing.T) {
	lines, err := parse(strings.NewReader(string(demo)))
	require.NoError(t, err)
	touched, types, edges := map[string]bool{}, map[string]int{}, 0
	for _, l := range lines {
		types[l.Type]++
		for _, e := range l.Related {
			touched[l.ID], touched[e.ID] = true, true
			edges++
		}
	}
	if len(lines) < 200 || edges < 2*len(lines) || len(types) < 8 {
		t.Errorf("%d entities, %d edges, %v", len(lines), edges, types)
	}
	g := graph(t, "")
	for _, l := range lines {
		if !touched[l.ID] {
			t.Errorf("%s is related to nothing", l.ID)
		}
		for by, query := range map[string]string{ByID: l.ID, ByName: strings.ToUpper(l.Name)} {
			m, _, err := g.Find(context.Background(), "anybody", l.Type, query)
			if err != nil || m == nil || m.Entity.ID != l.ID || m.By != by {
				t.Errorf("%s by %s: %+v, %v", query, by, m, err)
			}
		}
	}
}

func TestFindByWhatPeopleType(t *testing.T) {
	g := graph(t, "")
	for _, c := range []struct{ typ, query, id, by string }{
		{"service", "express ship", "service-express", ByPrefix},
		{"service", "expres shiping", "service-express", ByFuzzy},
		{"service", "Shipping Express", "service-express", ByFuzzy},
		{"carrier", "borealis hauling", "carrier-borealis", ByFuzzy},
		{"person", "Quil Marta", "person-marta-quill", ByFuzzy},
		{"system", "temperature records with alarms", "system-frostwatch", ByDescription},
		{"place", "cold store frozen storage", "place-depot-fallowby", ByDescription},
		{"person", "Iñes Cálloway", "person-ines-calloway", ByName},
	} {
		m, near, err := g.Find(context.Background(), "t", c.typ, c.query)
		if err != nil || m == nil {
			t.Errorf("%s %q: not found, near %v, %v", c.typ, c.query, near, err)
			continue
		}
		if m.Entity.ID != c.id || m.By != c.by || m.Score <= 0 || m.Score > 1 {
			t.Errorf("%s %q: %s by %s, %.2f; want %s by %s", c.typ, c.query, m.Entity.ID, m.By, m.Score, c.id, c.by)
		}
	}
	for _, query := range []string{"zzzzqqqq", "%", "_", "*", `"`, "'; DROP TABLE entities; --", "", " ", "\x00", strings.Repeat("ab ", 5000)} {
		if m, _, err := g.Find(context.Background(), "t", "service", query); err != nil || m != nil {
			t.Errorf("%.20q: %+v, %v", query, m, err)
		}
	}
}

func TestImportReplacesAndHides(t *testing.T) {
	g, ctx := graph(t, ""), context.Background()
	put := func(s string) Summary {
		t.Helper()
		sum, err := g.Import(ctx, "acme", strings.NewReader(s))
		require.NoError(t, err)
		return sum
	}
	sum := put(`{"id":"a","type":"gadget","name":"Alpha","aliases":["First One"],"related":[{"relation":"near","id":"b"},{"relation":"in","id":"place-calden"}]}

{"id":"b","type":"gadget","name":"Beta","properties":{"n":9007199254740993}}
`)
	if sum != (Summary{Entities: 2, Edges: 2}) {
		t.Errorf("%+v", sum)
	}
	for _, query := range []string{"first one", "frist one", "Alpha"} {
		if m, _, err := g.Find(ctx, "acme", "gadget", query); err != nil || m == nil || m.Entity.ID != "a" {
			t.Errorf("%q: %+v %v", query, m, err)
		}
	}
	if m, _, err := g.Find(ctx, "acme", "gadget", "b"); err != nil || string(m.Entity.Properties) != `{"n":9007199254740993}` {
		t.Errorf("%+v %v", m, err)
	}
	all, total, err := g.Related(ctx, "acme", "place-calden")
	if err != nil || total != len(all) || len(all) < 5 || !strings.Contains(fmt.Sprint(all), "{in in a gadget Alpha}") {
		t.Errorf("%d %v %v", total, all, err)
	}
	put(`{"id":"a","type":"gizmo","name":"Gamma"}` + "\n" + `{"id":"place-calden","type":"place","name":"Our Calden"}`)
	if m, _, err := g.Find(ctx, "acme", "gadget", "Alpha"); err != nil || m != nil {
		t.Errorf("the old name is found: %+v %v", m, err)
	}
	if all, _, err := g.Related(ctx, "acme", "a"); err != nil || len(all) != 0 {
		t.Errorf("old edges are left: %v %v", all, err)
	}
	for tenant, name := range map[string]string{"acme": "Our Calden", "other": "Calden"} {
		if m, _, err := g.Find(ctx, tenant, "place", "place-calden"); err != nil || m.Entity.Name != name {
			t.Errorf("%s: %+v %v", tenant, m, err)
		}
	}
	if m, _, _ := g.Find(ctx, "acme", "place", "Calden"); m == nil || m.Entity.ID == "place-calden" {
		t.Errorf("the hidden entity is found: %+v", m)
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	g, ctx := graph(t, ""), context.Background()
	good := `{"id":"a","type":"x","name":"A"}`
	for bad, want := range map[string]string{
		`{`:                                  "line 2: not an entity",
		`[]`:                                 "line 2: not an entity",
		`{"id":"a","type":"x","name":"A"}`:   `line 2: id "a" is taken by line 1`,
		`{"id":"","type":"x","name":"A"}`:    `line 2: id ""`,
		`{"id":"b","type":"X Y","name":"A"}`: `line 2: type "X Y"`,
		`{"id":"b","type":"x","name":"?"}`:   `line 2: name "?"`,
		`{"id":"b","type":"x","name":"B\u001b[2J"}`:                              `line 2: name`,
		`{"id":"b","type":"x","name":"B","colour":1}`:                            `line 2: not an entity: json: unknown field "colour"`,
		`{"id":"b","type":"x","name":"B","properties":[1]}`:                      "line 2: properties",
		`{"id":"b","type":"x","name":"B"} {}`:                                    "line 2: more than one",
		`{"id":"b","type":"x","name":"B","related":[{"relation":"r","id":"c"}]}`: `line 2: related "c": no entity with this id; import that one first, or in the same file`,
		"\xff": "line 2: not UTF-8",
		`{"id":"b","type":"x","name":"` + strings.Repeat("b", MaxLine) + `"}`: "line 2: longer than",
	} {
		if _, err := g.Import(ctx, "acme", strings.NewReader(good+"\n"+bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %s", bad, err, want)
		}
	}
	if m, near, err := g.Find(ctx, "acme", "x", "A"); err != nil || m != nil || len(near) != 0 {
		t.Errorf("a line of a refused file is there: %+v %v", m, err)
	}
	if _, err := g.Import(ctx, "", strings.NewReader(good)); err == nil {
		t.Error("the demonstration graph was changed")
	}
	if _, err := g.Import(ctx, "acme", strings.NewReader(strings.Repeat("{\n", 1000))); err == nil || strings.Count(err.Error(), "line") != maxErrors {
		t.Errorf("%v", err)
	}
}

func TestGraphsOutliveTheProcess(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "agent.db"), context.Background()
	first := graph(t, path)
	if _, err := first.Import(ctx, "acme", strings.NewReader(`{"id":"a","type":"x","name":"A"}`)); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, first.db.Close())
	again := graph(t, path)
	if m, _, err := again.Find(ctx, "acme", "x", "a"); err != nil || m == nil {
		t.Errorf("%+v %v", m, err)
	}
	// What another process imports is found at once.
	if _, err := graph(t, path).Import(ctx, "acme", strings.NewReader(`{"id":"b","type":"x","name":"B"}`)); err != nil {
		t.Fatal(err)
	}
	if m, _, err := again.Find(ctx, "acme", "x", "b"); err != nil || m == nil {
		t.Errorf("%+v %v", m, err)
	}
}

// What was imported when entities had tables of their own is there, as it was but for the letters of aliases.
func TestGraphsOfBeforeAreKept(t *testing.T) {
	g, ctx := graph(t, ""), context.Background()
	deep := `{"deep":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `,"n":9007199254740993,"said":"a \"b\""}`
	old := `CREATE TABLE entities (tenant TEXT, id TEXT, type TEXT, name TEXT, properties TEXT);
		CREATE TABLE entity_names (tenant TEXT, type TEXT, fold TEXT, id TEXT); CREATE TABLE entity_terms (tenant TEXT);
		CREATE TABLE entity_edges (tenant TEXT, src TEXT, relation TEXT, dst TEXT); CREATE TABLE entity_seed (digest TEXT);
		INSERT INTO entities VALUES ('acme', 'a', 'x', 'Ä "quoted"', '` + deep + `'), ('acme', 'b', 'x', 'B', '{}'), ('other', 'c', 'x', 'C', '{}'), ('', 'd', 'demo', 'D', '{}');
		INSERT INTO entity_edges VALUES ('acme', 'a', 'near', 'b'), ('acme', 'a', 'in', 'place-calden'), ('other', 'c', 'near', 'a');
		INSERT INTO entity_names VALUES ('other', 'x', 'c', 'c'), ('', 'demo', 'd', 'd'), ('acme', 'x', 'a quoted', 'a')`
	require.NoError(t, g.db.Migrate(ctx, "entity", store.Steps{SQLite: []string{old}, Postgres: []string{old}}))
	for i := range maxAliases {
		_, err := g.db.ExecContext(ctx, `INSERT INTO entity_names VALUES ('acme', 'x', ?, 'a')`, fmt.Sprintf("alias %d", i))
		require.NoError(t, err)
	}
	m, _, err := g.Find(ctx, "acme", "x", "Alias 19")
	if err != nil || m == nil || m.Entity.Name != `Ä "quoted"` || string(m.Entity.Properties) != deep {
		t.Fatalf("%+v %v", m, err)
	}
	all, _, err := g.Related(ctx, "acme", "a")
	if err != nil || fmt.Sprint(all) != "[{in out place-calden place Calden} {near out b x B}]" {
		t.Errorf("%v %v", all, err)
	}
	for tenant, id := range map[string]string{"acme": "c", "other": "a", "third": "d"} {
		if m, _, err := g.Find(ctx, tenant, "x", id); err != nil || m != nil && m.Entity.ID == id {
			t.Errorf("%s sees %s: %+v %v", tenant, id, m, err)
		}
	}
	if _, err := g.Import(ctx, "acme", strings.NewReader(`{"id":"a","type":"x","name":"New","related":[{"relation":"near","id":"b"}]}`)); err != nil {
		t.Error(err)
	}
}

// However many ask at once for a graph that is not in memory, it is read once.
func TestAGraphIsReadOnce(t *testing.T) {
	g, ctx := graph(t, ""), context.Background()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"id":"p%d","type":"parcel","name":"Parcel %d"}`+"\n", i, i)
	}
	_, err := g.Import(ctx, "acme", strings.NewReader(b.String()))
	require.NoError(t, err)
	seen, all := make([]*view, 8), sync.WaitGroup{}
	for i := range seen {
		all.Go(func() { seen[i], _ = g.view(ctx, "acme") })
	}
	all.Wait()
	if made := slices.Compact(seen); len(made) != 1 || made[0] == nil {
		t.Errorf("%d views", len(made))
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := seen[0].guess(gone, "parcel", "parcl"); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits, and it goes on: %v", err)
	}
	if seen[0].size < b.Len()-300 || seen[0].size > b.Len() {
		t.Errorf("%d bytes of %d", seen[0].size, b.Len())
	}
	g.keep("large", &view{size: 100}, 50) // one alone may be larger than all together
	if all := g.views.Keys(); fmt.Sprint(all) != "[large]" {
		t.Error(all)
	}
}

func TestMentions(t *testing.T) {
	g, ctx := graph(t, ""), context.Background()
	got, err := g.Mentions(ctx, "t", "Who maintains BEACON, and does Express Shipping (not Express Morning!) use Frostwatch? Beacon again.", 10)
	var names []string
	for _, e := range got {
		names = append(names, e.Name)
	}
	if err != nil || strings.Join(names, "|") != "Beacon|Express Shipping|Express Morning|Frostwatch" {
		t.Errorf("%q %v", names, err)
	}
	if got, err := g.Mentions(ctx, "t", strings.Repeat("word ", 3000)+"Beacon", 1); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}
