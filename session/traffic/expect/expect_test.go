package expect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/compare"
)

func query(t *testing.T, text string) *Query {
	t.Helper()
	q, err := Parse(text)
	require.NoError(t, err)
	return q
}

func TestHolds(t *testing.T) {
	t.Setenv("SECRET_OF_THE_TEST", "x")
	const value = `{"id":12345678901234567890,"price":1.10,"list":[1,2,3],"none":null,"text":"` + "a\u00e9b" + `","isError":false}`
	for _, c := range []struct {
		query string
		ok    bool
		got   string
	}{
		{".id == 12345678901234567890", true, "true"},
		{".id == 12345678901234567891", false, "false"},
		{".id", true, "12345678901234567890"},
		{".price", true, "1.10"},
		{".list | length > 2", true, "true"},
		{".list[] > 0", true, "true"},
		{".list[] < 3", false, "false"},
		{".none", false, "null"},
		{"empty", false, "nothing"},
		{"0", true, "0"},
		{`""`, true, `""`},
		{".text | error", false, "an error: aéb"},
		{".text | .x", false, "an error: expected an object but got: string (\"aéb\")"},
		{"env", true, "{}"},
		{"$ENV.SECRET_OF_THE_TEST", false, "null"},
		{"halt", false, "nothing"},
		{"[range(1000)]", true, ""},
	} {
		ok, got := query(t, c.query).Holds(t.Context(), []byte(value))
		if ok != c.ok || c.got != "" && got != c.got || len(got) > maxPreview+len("an error: …") {
			t.Errorf("%s: %v %s; want %v %s", c.query, ok, got, c.ok, c.got)
		}
	}
	if ok, got := query(t, ".").Holds(t.Context(), []byte(`{"a":1} x`)); ok || !strings.Contains(got, "not valid JSON") {
		t.Error(got)
	}
	all, err := query(t, ".list[1:][], 2").Values(t.Context(), []byte(value))
	if len(all) != 3 || string(all[0])+string(all[1])+string(all[2]) != "232" || err != nil {
		t.Errorf("%s, %v", all, err)
	}
	if all, err := query(t, "1, error(\"no\"), 2").Values(t.Context(), []byte(value)); len(all) != 1 || err == nil {
		t.Errorf("%s, %v", all, err)
	}
	if all, err := query(t, "empty").Values(t.Context(), []byte(value)); len(all) != 0 || err != nil {
		t.Errorf("%s, %v", all, err)
	}
	if v, err := query(t, ".list[1:], 2").Value(t.Context(), []byte(value)); string(v) != "[2,3]" || err != nil {
		t.Errorf("%s %v", v, err)
	}
	if _, err := query(t, "empty").Value(t.Context(), []byte(value)); err == nil {
		t.Error("empty has a value")
	}
}

// What is wrong with an expression is said with its place.
func TestParseSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "it is empty",
		".a[":                      "it ends too soon at character 4, at its end",
		".a é ] .b":                "character 4",
		".tools | lenght":          `function not defined: lenght/0 at character 10, at "lenght"`,
		"input":                    "not allowed",
		`import "a" as a; 1`:       "module",
		`include "/etc/passwd"; 1`: "module",
		strings.Repeat("(", 20000): "longer than",
		strings.Repeat("[", 16000): "ends too soon",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v; want %s", text, err, want)
		}
	}
}

// An expression that does not end, gives too much or takes too much memory is stopped, and the failure says why.
func TestHoldsIsBounded(t *testing.T) {
	t.Parallel()
	const long = time.Minute
	for text, c := range map[string]struct {
		bounds
		want error
	}{
		"def f: f; f":     {bounds{100 * time.Millisecond, MaxMemory, MaxValues}, errTime},
		"last(repeat(1))": {bounds{100 * time.Millisecond, MaxMemory, MaxValues}, errTime},
		"range(1e9)":      {bounds{long, MaxMemory, 10_000}, errValues},
		"def f: 1+f; f":   {bounds{long, 32 << 20, MaxValues}, errMemory},
		"[range(1e10)]":   {bounds{long, 32 << 20, MaxValues}, errMemory},
	} {
		q := query(t, text)
		q.bound = c.bounds
		if ok, got := q.Holds(t.Context(), nil); ok || got != "an error: "+c.want.Error() {
			t.Error(text, ok, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, got := query(t, "def f: f; f").Holds(ctx, nil); ok || !strings.Contains(got, "canceled") {
		t.Error(got)
	}
}

func TestCheck(t *testing.T) {
	sch, err := ParseSchema("s.json", []byte(`{"type":"object","required":["structuredContent"],"properties":{"structuredContent":{"properties":{"n":{"type":"integer","maximum":5}}}}}`))
	require.NoError(t, err)
	yes, no, code := true, false, int64(-32602)
	good := Answer{Result: json.RawMessage(`{"content":[],"structuredContent":{"n":3}}`), Took: 10 * time.Millisecond}
	bad := Answer{Result: json.RawMessage(`{"content":[{"type":"text","text":"no such thing"}],"structuredContent":{"n":7},"isError":true}`), Took: 3 * time.Second}
	refused := Answer{Error: &failure.Error{Kind: failure.RpcError, Code: &code, Message: "bad"}}
	for i, c := range []struct {
		e    Expectations
		a    Answer
		want string
	}{
		{Expectations{Schema: sch, MaxLatency: time.Second, IsError: &no, Queries: []*Query{query(t, ".structuredContent.n == 3")}}, good, ""},
		{Expectations{Schema: sch}, bad, "expectSchema: expected a value of s.json, got /structuredContent/n"},
		{Expectations{MaxLatency: time.Second}, bad, "maxLatency: expected at most 1s, got 3s"},
		{Expectations{IsError: &no}, bad, "isError: expected false, got true (no such thing)"},
		{Expectations{IsError: &yes}, bad, ""},
		{Expectations{IsError: &yes}, good, "isError: expected true, got false"},
		{Expectations{Error: &Error{Code: &code}}, good, "expectError: expected an error: code -32602, got a result"},
		{Expectations{Error: &Error{Code: &code, Kind: failure.RpcError}, Queries: []*Query{query(t, `.message == "bad"`)}}, refused, ""},
		{Expectations{Error: &Error{Code: &code}, Queries: []*Query{query(t, `.code == 1`)}}, refused, ".code == 1 gave false"},
		{Expectations{Error: &Error{Kind: failure.Timeout}}, refused, "got an error: RpcError, code -32602 (bad)"},
	} {
		var got []string
		for _, f := range c.e.Check(t.Context(), c.a) {
			got = append(got, f.String())
		}
		if all := strings.Join(got, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
			t.Errorf("%d: %s; want %s", i, all, c.want)
		}
	}
	for _, text := range []string{"[", `{"type":7}`, `{"$ref":"https://example.com/x.json"}`} {
		if _, err := ParseSchema("x", []byte(text)); err == nil {
			t.Errorf("%s is a schema that can be checked", text)
		}
	}
}

// A snapshot is written, compared by pointers, and what is ignored does not count.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	result := func(id string, n int) []byte {
		return fmt.Appendf(nil, `{"content":[{"type":"text","text":"{\"id\":\"%[1]s\"}"}],"structuredContent":{"id":%[1]q,"n":%d,"big":12345678901234567890,"api_key":"hunter2%[1]s"}}`, id, n)
	}
	s := &Snapshot{Dir: dir, File: "deep/x.json"}
	if f, ok := s.check(ctx, result("a", 1)); ok || f.Got != "no such snapshot yet" {
		t.Errorf("%v", f)
	}
	if wrote, err := s.Update(ctx, result("a", 1)); !wrote || err != nil {
		t.Fatal(wrote, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "deep", "x.json")); err != nil || strings.Contains(string(b), "hunter2") || !strings.Contains(string(b), "12345678901234567890") || !strings.Contains(string(b), "\n  ") {
		t.Errorf("%s %v", b, err)
	}
	if wrote, err := s.Update(ctx, result("a", 1)); wrote || err != nil {
		t.Error("an equal result was written again", err)
	}
	f, ok := s.check(ctx, result("b", 2))
	if lines := strings.Join(f.Lines(), "\n"); ok || !strings.Contains(lines, `changed /structuredContent/n: 1 → 2`) || !strings.Contains(lines, `changed /content/0/text → /id: "a" → "b"`) || len(f.Differences) != 3 {
		t.Errorf("%v\n%s", ok, lines)
	}
	for _, place := range []string{"/structuredContent/n", ".structuredContent | .id", "/content/0/text/id"} {
		require.NoError(t, s.Ignore(place))
	}
	if f, ok := s.check(ctx, result("b", 2)); !ok {
		t.Errorf("%v %v", f, f.Lines())
	}
	if err := s.Ignore(".["); err == nil {
		t.Error("a place that is not one")
	}
	bad := &Snapshot{Dir: dir, File: "deep/x.json"}
	require.NoError(t, bad.Ignore("1 + 1"))
	if f, ok := bad.check(ctx, result("b", 2)); ok || !strings.Contains(f.Got, "1 + 1") {
		t.Errorf("%v", f)
	}
	huge := []byte(`{"text":"` + strings.Repeat("x", compare.MaxBytes) + `"}`)
	if _, err := s.Update(ctx, huge); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large.json"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(dir, "large.json"), 50<<20))
	if f, ok := (&Snapshot{Dir: dir, File: "large.json"}).check(ctx, result("a", 1)); ok || !strings.Contains(f.Got, "is larger than") {
		t.Errorf("%v", f)
	}
	// Nothing outside of the folder is read or written.
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := (&Snapshot{Dir: dir, File: "out/x.json"}).Update(ctx, result("a", 1)); err == nil {
		t.Error("a snapshot was written outside of its folder")
	}
	for _, name := range []string{"../x.json", "/tmp/x.json", "x.yaml", "", `a\b.json`} {
		if CheckFile(name) == nil {
			t.Errorf("%q is a snapshot's file", name)
		}
	}
}

func TestFailure(t *testing.T) {
	if Failure("", "", nil) != nil {
		t.Error("nothing failed")
	}
	err := Failure("srv", "tools/call x", []Failed{{Assertion: OfQuery, Expected: ".a", Got: "null"}, {Assertion: OfLatency, Expected: "at most 1s", Got: "2s"}})
	if failure.KindOf(err) != failure.Assertion || !strings.Contains(err.Error(), ".a gave null (and 1 more)") {
		t.Error(err)
	}
}

// Holds is holds on a JSON text.
func (q *Query) Holds(ctx context.Context, raw []byte) (ok bool, got string) {
	v, err := decode(raw)
	if err != nil {
		return false, err.Error()
	}
	return q.holds(ctx, v)
}
