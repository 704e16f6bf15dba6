package agentsrv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestT5_X1_ImportedEntities(t *testing.T) {
	file := filepath.Join(t.TempDir(), "things.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`{"id":"ship-1","type":"ship","name":"Nordlicht","properties":{"flag":"NO"}}`+"\n"), 0o600))
	_, cs := serve(t, Options{Entities: []string{"acme=" + file}})
	find := func(tenant string) string {
		r := cs["modern"].call("lookup_entity", `{"entity_type":"ship","query":"nordlicht","tenant_id":"`+tenant+`"}`)
		return r.Content[0].Text
	}
	assert.Contains(t, find("acme"), `"id":"ship-1"`)
	assert.NotContains(t, find("other"), "ship-1")
	require.NoError(t, os.WriteFile(file, []byte("{}\nnonsense\n"), 0o600))
	if a, err := New(Options{Entities: []string{file}}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v %v", a, err)
	}
}
