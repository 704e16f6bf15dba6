package cost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// measured is a definition of a real server's tool: the features of its text, and what tokenizers count. The texts are not ours to keep.
type measured struct {
	server, tool string
	features     features
	o200k        int
	cl100k       int
	claude2      int
}

// readMeasured reads testdata/measured.tsv.
func readMeasured(t *testing.T) (out []measured) {
	t.Helper()
	raw, err := os.ReadFile("testdata/measured.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var m measured
		to := []any{&m.server, &m.tool}
		for i := range m.features {
			to = append(to, &m.features[i])
		}
		if _, err := fmt.Sscan(line, append(to, &m.o200k, &m.cl100k, &m.claude2)...); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

// TestTokensOfServers holds the error that Estimate and the manual promise, on servers that the weights were not fitted to.
func TestTokensOfServers(t *testing.T) {
	type list struct{ tools, estimate, o200k, cl100k, claude2 int }
	lists := map[string]*list{}
	worst := 0.0
	for _, m := range readMeasured(t) {
		l := lists[m.server]
		if l == nil {
			l = &list{}
			lists[m.server] = l
		}
		e := m.features.tokens()
		l.tools++
		l.estimate, l.o200k, l.cl100k, l.claude2 = l.estimate+e, l.o200k+m.o200k, l.cl100k+m.cl100k, l.claude2+m.claude2
		off := float64(e)/float64(m.o200k) - 1
		if worst = max(worst, math.Abs(off)); math.Abs(off) > 0.10 {
			t.Errorf("%s %s: %d, but o200k_base counts %d", m.server, m.tool, e, m.o200k)
		}
	}
	if len(lists) < 10 || !strings.Contains(Estimate, "within 5 %") || !strings.Contains(Estimate, "within 10 %") {
		t.Errorf("%d servers; %s", len(lists), Estimate)
	}
	for server, l := range lists {
		for name, n := range map[string]int{"o200k_base": l.o200k, "cl100k_base": l.cl100k, "Claude 2": l.claude2} {
			off, most := float64(l.estimate)/float64(n)-1, 0.05
			if name != "o200k_base" {
				most = 0.10
			}
			t.Logf("%s, %d tools, %s: %d for %d, %+.1f %%", server, l.tools, name, l.estimate, n, 100*off)
			if math.Abs(off) > most {
				t.Errorf("%s: %d, but %s counts %d", server, l.estimate, name, n)
			}
		}
	}
	t.Logf("a tool: within %.1f %%", 100*worst)
}

// TestTokensOfTexts has texts in many scripts, code and numbers, whose features are counted here and now.
func TestTokensOfTexts(t *testing.T) {
	raw, err := os.ReadFile("testdata/texts.jsonl")
	require.NoError(t, err)
	estimate, real := 0, 0
	for line := range bytes.Lines(raw) {
		var x struct {
			Name, Text string
			O200k      int
		}
		require.NoError(t, json.Unmarshal(line, &x))
		e := Tokens(x.Text)
		estimate, real = estimate+e, real+x.O200k
		if off := float64(e)/float64(x.O200k) - 1; math.Abs(off) > 0.4 {
			t.Errorf("%s: %d, but o200k_base counts %d (%+.0f %%)", x.Name, e, x.O200k, 100*off)
		}
		if n := Tokens([]byte(x.Text)); n != e {
			t.Errorf("%s: %d as bytes, %d as a string", x.Name, n, e)
		}
	}
	if off := float64(estimate)/float64(real) - 1; math.Abs(off) > 0.05 {
		t.Errorf("all texts: %d, but o200k_base counts %d", estimate, real)
	}
}

// TestMeasure writes testdata/measured.tsv from definitions that tokenizers counted: a file that COST_MEASURED names, a JSON object with
// server, name, text, o200k, cl100k and claude2 in each line.
func TestMeasure(t *testing.T) {
	from := os.Getenv("COST_MEASURED")
	if from == "" {
		if _, err := os.Stat("testdata/measured.tsv"); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(from)
	require.NoError(t, err)
	defer f.Close()
	var out bytes.Buffer
	fmt.Fprintln(&out, "# server, tool, what count of tokens.go gives for its definition as a model gets it, and tokens by o200k_base, cl100k_base and Claude 2")
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var x struct {
			Server, Name, Text     string
			O200k, Cl100k, Claude2 int
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &x))
		fmt.Fprintln(&out, x.Server, x.Name, strings.Trim(fmt.Sprint(count(x.Text)), "[]"), x.O200k, x.Cl100k, x.Claude2)
	}
	require.NoError(t, lines.Err())
	require.NoError(t, os.WriteFile("testdata/measured.tsv", out.Bytes(), 0o644))
}

func TestTokensNeverPanic(t *testing.T) {
	for _, s := range []string{"", "\xff", "a\xe2\x82", strings.Repeat("é", 1000), "\U0010ffff", "aB", "A"} {
		if n := Tokens(s); n < 0 || n > len(s)+1 {
			t.Errorf("%q: %d", s, n)
		}
	}
}
