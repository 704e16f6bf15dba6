package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

var server = config.Server{Name: "a", Transport: config.Stdio, Command: "server"}

// No secret reaches the disk, whatever says that it is one; the rest comes back byte for byte.
func TestSecretsAreNotWritten(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "inputs"))
	file := s.File(server, "call", "tool")
	for _, c := range []struct{ value, want string }{
		{`{"api_key":"hunter2","n":12345678901234567890.10}`, `{"n":12345678901234567890.10}`},
		{`{"apiKey":"hunter2"}`, `{}`},
		{`{"token":"hunter2","text":"a"}`, `{"text":"a"}`},
		{`{"Secret":"hunter2","passwd":"hunter2","Authorization":"hunter2","credential":"hunter2","private_key":"hunter2","password":"hunter2"}`, `{}`},
		{`{"login":{"user":"ada","client_secret":["hunter2"]},"b":[1,2]}`, `{"login":{"user":"ada"},"b":[1,2]}`},
		{`{"note":"use ghp_hunter2hunter2hunter2hunter2hunter2hun to log in","a":1}`, `{"a":1}`},
		{`{"url":"https://ada:hunter2@example.com/","a":null}`, `{"a":null}`},
		{`{"headers":["X: y","Authorization: Bearer hunter2hunter2"],"a":" é\u0041"}`, `{"a":" é\u0041"}`},
		{`{"list":[{"name":"x","api-key":"hunter2"}]}`, `{"list":[{"name":"x"}]}`},
		{`{"max_tokens":100,"monkey":"banana"}`, `{"max_tokens":100,"monkey":"banana"}`},
	} {
		require.NoError(t, s.Save(file, []byte(`{"type":"object"}`), []byte(c.value)))
		if got := string(s.Load(file).Value); got != c.want {
			t.Errorf("%s is kept as %s, want %s", c.value, got, c.want)
		}
	}
	all, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil || len(all) != 1 {
		t.Fatalf("files %v, %v; want one", all, err)
	}
	if b, err := os.ReadFile(all[0]); err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("on the disk: %s, %v", b, err)
	}
}

// What a schema marks as secret is not kept.
func TestSecretSchemasAreNotWritten(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "inputs"))
	for i, schema := range []string{`{"properties":{"pin":{"format":"password"}}}`, `{"properties":{"pin":{"writeOnly":true}}}`} {
		file := s.File(server, "call", fmt.Sprint(i))
		require.NoError(t, s.Save(file, []byte(schema), []byte(`{"pin":"1","a":2}`)))
		if b := s.Load(file).Value; string(b) != `{"a":2}` {
			t.Errorf("%s: kept %s", schema, b)
		}
	}
	for _, s := range []*Store{nil, New("")} {
		if f := s.File(server, "call", "x"); f != "" {
			t.Errorf("a store without a folder has the file %s", f)
		}
	}
}

// The values that were not sent for the longest time go first.
func TestOldValuesGo(t *testing.T) {
	s := New(t.TempDir())
	for i := range maxValues + 3 {
		require.NoError(t, s.Save(s.File(server, "call", fmt.Sprint(i)), nil, []byte(`{}`)))
	}
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != maxValues {
		t.Errorf("%d files, %v; want %d", len(files), err, maxValues)
	}
	if s.Load(s.File(server, "call", fmt.Sprint(maxValues+2))).Empty() {
		t.Error("the newest value is gone")
	}
}

// A draft is kept beside what was sent until it is sent, and what looks like a secret is not, whatever form it has.
func TestDrafts(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "inputs"))
	file := s.File(server, "call", "tool")
	draft := func(value, text string) Kept {
		t.Helper()
		require.NoError(t, s.SaveDraft(file, nil, Kept{Value: []byte(value), Text: text}))
		return s.Load(file)
	}
	require.NoError(t, s.Save(file, nil, []byte(`{"a":1}`)))
	if k := draft(`{"a":2}`, ""); !k.Draft || string(k.Value) != `{"a":2}` {
		t.Errorf("the draft is %+v", k)
	}
	if k := draft("", `{"a":`); !k.Draft || k.Text != `{"a":` || k.Value != nil {
		t.Errorf("the text is %+v", k)
	}
	for _, text := range []string{`{"api_key": "hunter2"`, `{password: hunter2`, `{"x":"ghp_hunter2hunter2hunter2hunter2hunter2hun`} {
		if k := draft("", text); k.Draft || string(k.Value) != `{"a":1}` {
			t.Errorf("%s is kept as %+v", text, k)
		}
	}
	if k := draft(`{"token":"hunter2"}`, ""); k.Draft {
		t.Errorf("a draft of secrets is kept as %+v", k)
	}
	draft(`{"a":3}`, "")
	require.NoError(t, s.Save(file, nil, []byte(`{"a":4}`)))
	if k := s.Load(file); k.Draft || string(k.Value) != `{"a":4}` {
		t.Errorf("after it was sent: %+v", k)
	}
	if err := s.Forget(file); err != nil || !s.Load(file).Empty() {
		t.Errorf("forgotten: %+v, %v", s.Load(file), err)
	}
}
