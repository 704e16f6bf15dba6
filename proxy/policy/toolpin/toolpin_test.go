package toolpin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestSection2_PinsFileThatIsDamagedIsNotForgotten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins.json")
	for _, text := range []string{`{`, `{"version":2}`, `{"version":1,"agents":{"a":{"x":{"sha256":"y"}}}}`, `{"version":1,"agents":{"a":{"x":null}}}`} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := Open(file, nil); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// Routers of the same routes have one file, and each knows what the others remember.
func TestSection2_PinsAreShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins.json")
	router := func() *Store {
		t.Helper()
		p, err := Open(file, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	tool := func(name, text string) []byte {
		return fmt.Appendf(nil, `{"tools":[{"name":%q,"description":%q}]}`, name, text)
	}
	one, two := router(), router()
	one.Check("a", tool("x", "harmless"))
	one.Check("a", tool("y", "harmless"))
	one.write(false)
	two.Check("a", tool("x", "not harmless any more")) // which is new to it, but not to the other one
	two.Check("b", tool("z", "harmless"))
	two.write(false)
	if s := two.Status("a"); s.Tools != 2 || s.Changes != 1 || s.Changed[0].Tool != "x" {
		t.Errorf("%+v", s)
	}
	one.Check("c", tool("z", "harmless"))
	one.write(false)
	if s := one.Status("b"); s.Tools != 1 {
		t.Errorf("%+v", s)
	}
	var all sync.WaitGroup
	for i, p := range []*Store{one, two} {
		all.Go(func() {
			for n := range 50 {
				p.Check(fmt.Sprint("router", i), tool(fmt.Sprint("tool", n), ""))
				p.write(false)
			}
		})
	}
	all.Wait()
	last := router()
	if a, b := last.Status("router0"), last.Status("router1"); a.Tools != 50 || b.Tools != 50 {
		t.Errorf("%+v %+v", a, b)
	}
	if s := last.Status("a"); s.Tools != 2 || s.Changes != 1 || last.Status("b").Tools != 1 || last.Status("c").Tools != 1 {
		t.Errorf("%+v", s)
	}
	// What somebody is just writing is not overwritten, and comes to be understood.
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, good[:len(good)/2], 0o600))
	one.Check("d", tool("z", ""))
	one.write(false)
	if now, err := os.ReadFile(file); err != nil || len(now) != len(good)/2 {
		t.Errorf("%d bytes, %v", len(now), err)
	}
	require.NoError(t, os.WriteFile(file, good, 0o600))
	assert.NoError(t, one.Close())
	if s := router().Status("d"); s.Tools != 1 {
		t.Errorf("%+v", s)
	}
}

func TestSection2_PinsAreBounded(t *testing.T) {
	p, err := Open("", nil)
	require.NoError(t, err)
	for page := range 3 {
		var b strings.Builder
		for i := range maxTools / 2 {
			fmt.Fprintf(&b, `,{"name":"tool-%d-%d"}`, page, i)
		}
		p.Check("a", []byte(`{"tools":[`+b.String()[1:]+`]}`))
	}
	p.Check("a", []byte(`{"tools":[{"name":"`+strings.Repeat("x", 1<<20)+`"},{"name":7},7,{}]}`))
	for i := range maxAgents + 10 {
		p.Check(fmt.Sprint(i), []byte(`{"tools":[]}`))
	}
	if s := p.Status("a"); s.Tools != maxTools || len(p.agents) > maxAgents {
		t.Errorf("%+v, %d agents", s, len(p.agents))
	}
	p.Check("a", []byte(`{"tools":[{"name":"new"}]}`))
	if s := p.Status("a"); s.Beyond != 1 {
		t.Errorf("%+v", s)
	}
	assert.NoError(t, p.Close())
}

// What is written can be read again, however much there is to remember.
func TestSection2_TheFileStaysWithinWhatIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	p, err := Open(path, nil)
	require.NoError(t, err)
	p.max = 1 << 20
	for agent := range 6 {
		var b strings.Builder
		for i := range 200 { // each name is written in six times as many bytes
			fmt.Fprintf(&b, `,{"name":"%s%d"}`, strings.Repeat(`\u0001`, 190), i)
		}
		p.Check(fmt.Sprint("agent", agent), []byte(`{"tools":[`+b.String()[1:]+`]}`))
	}
	assert.NoError(t, p.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	if info.Size() < int64(p.max)/2 || info.Size() > int64(p.max) {
		t.Errorf("the file has %d bytes, of at most %d", info.Size(), p.max)
	}
	if p, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	if s := p.Status("agent0"); s.Tools != 200 || s.Beyond != 0 {
		t.Errorf("agent0: %+v", s)
	}
	p.Check("new", []byte(`{"tools":[{"name":"`+strings.Repeat("x", 5000)+`"}]}`))
	if s := p.Status("new"); s.Tools+s.Beyond != 1 {
		t.Errorf("new: %+v", s)
	}
	assert.NoError(t, p.Close())
}
