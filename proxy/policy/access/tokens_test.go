package access

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/serve/limit"
	"github.com/mcphud/mcphud/session/test/require"
)

const (
	sum1 = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // of foo
	sum2 = "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9" // of bar
	none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing
)

func TestR8_TheFileOfTokens(t *testing.T) {
	good, err := ParseTokens([]byte("\xef\xbb\xbf {\"tokens\":[" +
		`{"sha256":"` + sum1 + `","name":"alpha","allowedTargets":["a"],"comment":1},` +
		`{"sha256":"` + strings.ToUpper(sum2) + `","name":"alpha","allowedTargets":["b"]}],"Tokens":[]}`))
	if err != nil || good.Len() != 2 || len(good.Warnings) != 3 || !strings.Contains(good.Warnings[2], "one caller") {
		t.Fatalf("%v %+v", err, good)
	}
	p, ok := good.find("foo")
	if !ok || p.Name != "alpha" || !p.May("a") || p.May("b") || p.May("A") || p.May("*") || p.May("") {
		t.Errorf("%+v", p)
	}
	if p, ok := good.find("bar"); !ok || !p.May("b") || p.May("a") {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"", "fo", "fooo", sum1, "Foo"} {
		if p, ok := good.find(bad); ok {
			t.Errorf("%q is %+v", bad, p)
		}
	}
	entry := func(s string) string { return `{"tokens":[` + s + `]}` }
	for name, text := range map[string]string{
		"empty":          ``,
		"no JSON":        `{"tokens":[`,
		"no list":        `{}`,
		"null":           `{"tokens":null}`,
		"an array":       `[]`,
		"no object":      entry(`"x"`),
		"no hash":        entry(`{"name":"x"}`),
		"short hash":     entry(`{"name":"x","sha256":"` + sum1[:62] + `"}`),
		"no hex":         entry(`{"name":"x","sha256":"` + sum1[:63] + `g"}`),
		"the token":      entry(`{"name":"x","sha256":"my-secret-token"}`),
		"of nothing":     entry(`{"name":"x","sha256":"` + none + `"}`),
		"no name":        entry(`{"sha256":"` + sum1 + `"}`),
		"empty name":     entry(`{"name":"","sha256":"` + sum1 + `"}`),
		"name escapes":   entry(`{"name":"a\u001b[2J","sha256":"` + sum1 + `"}`),
		"name, 101":      entry(`{"name":"` + strings.Repeat("x", 101) + `","sha256":"` + sum1 + `"}`),
		"targets string": entry(`{"name":"x","sha256":"` + sum1 + `","allowedTargets":"*"}`),
		"targets number": entry(`{"name":"x","sha256":"` + sum1 + `","allowedTargets":[1]}`),
		"member twice":   entry(`{"name":"x","sha256":"` + sum1 + `","allowedTargets":["a"],"allowedTargets":["*"]}`),
		"tokens twice":   `{"tokens":[],"tokens":[]}`,
		"hash twice":     entry(`{"name":"x","sha256":"` + sum1 + `"},{"name":"y","sha256":"` + sum1 + `"}`),
		"invalid UTF-8":  entry("{\"name\":\"\xff\",\"sha256\":\"" + sum1 + `"}`),
	} {
		if _, err := ParseTokens([]byte(text)); err == nil || strings.Contains(err.Error(), "my-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, targets := range []string{``, `,"allowedTargets":[]`} {
		none, err := ParseTokens([]byte(entry(`{"name":"x","sha256":"` + sum1 + `"` + targets + `}`)))
		require.NoError(t, err)
		if p, ok := none.find("foo"); !ok || p.May("a") {
			t.Errorf("no targets are %+v", p)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(`{"tokens":[{"sha256":"` + sum1 + `","name":"x","allowedTargets":["*"]}]}`))
	f.Add([]byte(`{"tokens":[[]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseTokens(text)
		if err != nil {
			return
		}
		for i, p := range got.whose {
			if p.Name == "" || len(got.sums) != len(got.whose) {
				t.Errorf("%d: %+v", i, p)
			}
		}
	})
}

func TestR8_PipesAndGiantsAreNoFilesOfTokens(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	require.NoError(t, os.WriteFile(big, nil, 0o600))
	require.NoError(t, os.Truncate(big, maxFile+1))
	for _, path := range []string{dir, big, filepath.Join(dir, "missing"), os.DevNull} {
		g := NewGuard(nil)
		if err := g.Follow(path); err == nil || !g.Status().Required {
			t.Errorf("%s: %v %+v", path, err, g.Status())
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{2, 100, 10_000} {
		t := &Tokens{sums: make([][32]byte, n), whose: make([]Principal, n)}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				t.find("0123456789abcdef0123456789abcdef")
			}
		})
	}
}

func BenchmarkRate(b *testing.B) {
	l := limit.New(maxMeters)
	for b.Loop() {
		l.Take("a\x00alpha", 1<<30)
	}
}
