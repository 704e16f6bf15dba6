package agentsrv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestT5_X1_ImportedEntities(t *testing.T) {
	file := filepath.Join(t.TempDir(), "things.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"ship-1","type":"ship","name":"Nordlicht","properties":{"flag":"NO"}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, cs := serve(t, Options{Entities: []string{"acme=" + file}})
	find := func(tenant string) string {
		r := cs["modern"].call("lookup_entity", `{"entity_type":"ship","query":"nordlicht","tenant_id":"`+tenant+`"}`)
		return r.Content[0].Text
	}
	if got := find("acme"); !strings.Contains(got, `"id":"ship-1"`) {
		t.Error(got)
	}
	if got := find("other"); strings.Contains(got, "ship-1") {
		t.Error(got)
	}
	if err := os.WriteFile(file, []byte("{}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := New(Options{Entities: []string{file}}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v %v", a, err)
	}
}
