package toolpin

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func list(tools ...string) []byte { return []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`) }

func opened(t *testing.T, file string) *Store {
	t.Helper()
	p, err := Open(file, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// What was first seen can be read by others: whose it is, when, and what it said, without its secrets.
func TestReadKnowsWhatWasFirstSeen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins.json")
	p := opened(t, file)
	first := `{"name":"x","description":"<b>adds</b> & ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr"}`
	p.Check("a", list(first, `{"name":"long`+strings.Repeat("x", 300)+`"}`), "target 1", "target 2")
	p.Check("a", list(`{"name":"x","description":"sends"}`), "target 2", "target 3")
	require.NoError(t, p.Close())
	known, err := Read(file)
	if err != nil || len(known) != 1 || known[0].Agent != "a" || !slices.Equal(known[0].Targets, []string{"target 1", "target 2", "target 3"}) {
		t.Fatalf("%+v, %v", known, err)
	}
	d, ok := known[0].Pin("x", []byte(`{"description":"sends","name":"x"}`))
	if want := `{"description":"<b>adds</b> & ***","name":"x"}`; !ok || d.Same || string(d.Definition) != want || d.Since.IsZero() {
		t.Errorf("%+v %s", d, d.Definition)
	}
	if d, ok := known[0].Pin("x", []byte(" "+first)); !ok || !d.Same {
		t.Errorf("%+v", d)
	}
	if d, ok := known[0].Pin("long"+strings.Repeat("x", 300), []byte(`{"name":"long`+strings.Repeat("x", 300)+`"}`)); !ok || !d.Same {
		t.Errorf("%+v", d)
	}
	if _, ok := known[0].Pin("y", []byte(`{}`)); ok {
		t.Error("a tool is known that nobody saw")
	}
}

// Definitions come from the router that saw them, whoever writes the file last, and a file without them gets them.
func TestDefinitionsAreMerged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins.json")
	one, two := opened(t, file), opened(t, file)
	one.Check("a", list(`{"name":"x","description":"1"}`), "target 1")
	one.write(false)
	two.Check("a", list(`{"name":"x","description":"2"}`, `{"name":"y","description":"3"}`), "target 2")
	two.write(false)
	known, err := Read(file)
	if err != nil || len(known) != 1 || len(known[0].Targets) != 2 {
		t.Fatalf("%+v, %v", known, err)
	}
	for name, want := range map[string]string{"x": `{"description":"1","name":"x"}`, "y": `{"description":"3","name":"y"}`} {
		if d, _ := known[0].Pin(name, nil); string(d.Definition) != want {
			t.Errorf("%s: %s", name, d.Definition)
		}
	}
	p := opened(t, "")
	p.Check("a", list(`{"name":"x"}`))
	d := p.agents["a"].tools["x"]
	p.dropDefinition(p.agents["a"], d)
	d.raw = [32]byte{} // as after a restart, with a file of a version that kept hashes only
	p.Check("a", list(`{"name":"x"}`))
	if d.Definition != `{"name":"x"}` {
		t.Errorf("%+v", d)
	}
}

// One agent cannot take the room that the hashes of others need.
func TestDefinitionsAreBounded(t *testing.T) {
	p := opened(t, "")
	p.max = 4 << 20
	for agent := range 5 {
		var tools []string
		for i := range 100 {
			tools = append(tools, fmt.Sprintf(`{"name":"%d","description":%q}`, i, strings.Repeat("x", 30<<10)))
		}
		tools = append(tools, fmt.Sprintf(`{"name":"large","description":%q}`, strings.Repeat("x", maxDefinition)))
		p.Check(fmt.Sprint(agent), list(tools...))
	}
	for name, a := range p.agents {
		sum := 0
		for _, d := range a.tools {
			sum += len(d.Definition)
		}
		if sum != a.definitionBytes || sum > maxDefinitions || len(a.tools) != 101 || a.tools["large"].Definition != "" {
			t.Errorf("%s: %d bytes, %d counted, %d tools", name, sum, a.definitionBytes, len(a.tools))
		}
	}
	if p.definitionBytes == 0 || p.definitionBytes > p.max/definitionShare {
		t.Errorf("%d bytes", p.definitionBytes)
	}
}

// A route is the server that a client's configuration has at the same place.
func TestTargetsOfRoutes(t *testing.T) {
	u, err := url.Parse("https://host.example/mcp")
	require.NoError(t, err)
	for _, c := range []struct {
		r *routes.Route
		s config.Server
	}{
		{&routes.Route{Name: "a", Command: "npx", Args: []string{"-y", "x"}}, config.OfCommand("npx", "-y", "x")},
		{&routes.Route{Name: "a", URL: u}, config.Server{URL: "https://host.example/mcp"}},
		{&routes.Route{Name: "a", HostPort: 3000}, config.Server{URL: "http://localhost:3000/mcp"}},
	} {
		if got := targetOf(c.r); got == "" || got != c.s.Target() {
			t.Errorf("%+v: %s", c.r, got)
		}
	}
	assert.Equal(t, targetOf(&routes.Route{Name: "a", Registered: true}), "")
}
