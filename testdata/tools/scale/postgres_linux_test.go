package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mcphud/mcphud/session/test/pgtest"
)

// stored measures an agent that keeps what it has in PostgreSQL: how many statements a call takes.
func stored(t *testing.T, c *Costs) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres"); len(found) == 0 { // the pattern is well-formed
		t.Log("PostgreSQL is not installed: its statements are not counted")
		return
	}
	t.Setenv(pgtest.RequireEnv, "required")
	server := pgtest.Private(t)
	server.Exec(t, "ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")
	at, err := url.Parse(server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		text, err := os.ReadFile(filepath.Join(at.Query().Get("host"), "log"))
		if err != nil {
			t.Fatal(err)
		}
		return len(statement.FindAll(text, -1))
	}
	w, home := newWorld(t)
	a := w.agent(home, "--store", at.String())
	a.start()
	a.ready()
	const calls = 200
	c.Statements = map[string]float64{}
	d := []door{{"agent", a.url("/mcp")}}
	n := 0
	for tool, args := range map[string]func() map[string]any{
		"echo": func() map[string]any { return echo },
		"lookup_entity": func() map[string]any {
			return map[string]any{"entity_type": "carrier", "query": "Quayside Freight", "tenant_id": "default"}
		},
		"create_agent": func() map[string]any {
			n++
			return map[string]any{"agent_name": fmt.Sprintf("a%d", n), "user_id": "u", "tenant_id": fmt.Sprintf("t%d", n%10), "description": "x", "output_schema": map[string]any{"type": "object"}}
		},
	} {
		load(t, w.c, d, 1, 1, tool, args(), false)
		before := count()
		for range calls {
			load(t, w.c, d, 1, 1, tool, args(), false)
		}
		c.Statements[tool] = float64(count()-before) / calls
	}
}

// statement is a line of PostgreSQL's log.
var statement = regexp.MustCompile(`(?m)LOG:  (statement|execute [^:]*): `)
