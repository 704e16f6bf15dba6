package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// The files of testdata were written when the history, the named calls and the snapshots of answers each had a type of their own, on
// 2026-11-28. Whatever reads them now finds the same in them, and writes them byte for byte.

// A history is read with all that is in it, its calls become the same files of a project as ever, and it goes on.
func TestHistoryOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.db")
	copied(t, "testdata/history.db", path)
	h := OpenHistory(path, Limits{Calls: 10_000, Bytes: 100_000_000, Age: 1 << 62})
	calls, err := h.List(t.Context(), Query{})
	require.NoError(t, err)
	var got, saved bytes.Buffer
	for _, c := range calls {
		file := filepath.Join(t.TempDir(), "saved.yaml")
		require.NoError(t, Write(c.Saved(file, "saved")))
		fmt.Fprintf(&saved, "# call %d\n%s", c.ID, contents(t, file))
		c.At.Time = c.At.UTC()
		result, err := h.Result(t.Context(), c)
		require.NoError(t, err)
		again, ok := c.Server.Config()
		line, err := json.Marshal(map[string]any{
			"call": c, "result": json.RawMessage(orNull(result)), "identity": c.Server.Identity(), "where": c.Server.Where(),
			"repeatable": ok, "target": again.Target(), "unmasked": json.RawMessage(orNull(c.Unmasked())), "meta": json.RawMessage(orNull(c.UnmaskedMeta())),
		})
		require.NoError(t, err)
		got.Write(append(line, '\n'))
	}
	golden(t, "testdata/history.jsonl", got.Bytes())
	golden(t, "testdata/saved.txt", saved.Bytes())
	named, err := h.Find(t.Context(), "smoke")
	if err != nil || named.Target != "search" {
		t.Errorf("%+v %v", named, err)
	}
	assert.NoError(t, h.Annotate(t.Context(), named.ID, "as ever"))
	assert.NoError(t, h.Close())
}

// A file of calls is read with all its keys, and written over without a change where nothing changed.
func TestFilesOfBefore(t *testing.T) {
	files, err := filepath.Glob("testdata/project/.mcphud/calls/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, ".mcphud", "calls")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	copied(t, "testdata/project/.mcphud/calls/answer.schema.json", filepath.Join(dir, "answer.schema.json"))
	var got bytes.Buffer
	for _, from := range files {
		file := filepath.Join(dir, filepath.Base(from))
		copied(t, from, file)
		f, warnings, err := Read(file)
		require.NoError(t, err)
		fmt.Fprintf(&got, "# %s %v %d\n", f.Name, f.Steps, len(f.Calls))
		for _, w := range warnings {
			fmt.Fprintln(&got, strings.ReplaceAll(w.String(), root, "…"))
		}
		for _, c := range f.Calls {
			got.WriteString(strings.ReplaceAll(described(t, c), root, "…"))
		}
		if f.Steps {
			continue
		}
		assert.NoError(t, Write(f.Calls[0]))
		golden(t, from, contents(t, file))
		require.NoError(t, os.Remove(file))
		assert.NoError(t, Write(f.Calls[0]))
		fmt.Fprintf(&got, "## written\n%s", contents(t, file))
	}
	golden(t, "testdata/files.txt", got.Bytes())
}

// A snapshot of an answer is compared as ever, and a new one is written as it was.
func TestSnapshotOfBefore(t *testing.T) {
	result := contents(t, "testdata/result.json")
	old := expect.Expectations{Snapshot: &expect.Snapshot{Dir: "testdata", File: "answer.snapshot.json"}}
	if failed := old.Check(t.Context(), expect.Answer{Result: result}); len(failed) > 0 {
		t.Errorf("%v %v", failed, failed[0].Lines())
	}
	changed := bytes.Replace(result, []byte(`"count": 2`), []byte(`"count": 3`), 1)
	if failed := old.Check(t.Context(), expect.Answer{Result: changed}); len(failed) != 1 || failed[0].Lines()[0] != "changed /structuredContent/count: 2 → 3" {
		t.Errorf("%v", failed)
	}
	dir := t.TempDir()
	if wrote, err := (&expect.Snapshot{Dir: dir, File: "x.json"}).Update(t.Context(), result); !wrote || err != nil {
		t.Fatal(wrote, err)
	}
	golden(t, "testdata/answer.snapshot.json", contents(t, filepath.Join(dir, "x.json")))
}

// described is all that a call of a file says.
func described(t *testing.T, c Call) string {
	t.Helper()
	var b strings.Builder
	say := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	say("- name", c.Name)
	say("line", c.Line)
	s, ok := c.Config()
	say("server", fmt.Sprintf("%q %v %v %q %v", c.Server.Name, ok, s.Target(), s.Cwd, s.Source.Project))
	say("asks", c.Method+" "+c.Target)
	say("arguments", string(c.Arguments))
	say("meta", string(c.Meta))
	say("timeout", c.Timeout)
	say("note", c.Note)
	var secrets []string
	for _, p := range c.Secrets {
		secrets = append(secrets, strings.TrimPrefix(p, "/arguments"))
	}
	say("secrets", secrets)
	for _, q := range c.Expect.Queries {
		say("expect", fmt.Sprintf("%q %d:%d", q.Text, q.Line, q.Col))
	}
	if c.Expect.Schema != nil {
		say("schema", c.Expect.Schema.Name)
	}
	if c.Expect.IsError != nil {
		say("isError", *c.Expect.IsError)
	}
	if c.Expect.Error != nil {
		say("error", c.Expect.Error)
	}
	if s := c.Expect.Snapshot; s != nil {
		say("snapshot", fmt.Sprintf("%s %s %q", filepath.ToSlash(s.Dir), filepath.ToSlash(s.File), s.Ignored()))
	}
	say("latency", c.Expect.MaxLatency)
	for _, key := range slices.Sorted(maps.Keys(c.Expect.Lines)) {
		say("at", fmt.Sprint(key, c.Expect.Lines[key]))
	}
	for _, one := range c.Capture {
		say("capture", fmt.Sprintf("%s %q %d:%d", one.Name, one.Query.Text, one.Query.Line, one.Query.Col))
	}
	say("again", fmt.Sprint(c.Repeat, c.Retry.For, c.Retry.Every))
	return b.String()
}

// orNull is JSON, null for none.
func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return b
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.WriteFile(to, contents(t, from), 0o600))
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if want := contents(t, file); !bytes.Equal(got, want) {
		t.Errorf("%s has\n%s\nand not\n%s", file, want, got)
	}
}
