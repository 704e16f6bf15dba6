package offer

import (
	"testing"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// TestPromptArguments: those that can be read are kept beside one that cannot.
func TestPromptArguments(t *testing.T) {
	if it := readItem(jsonrpc.Walk([]byte(`{"name":"p","arguments":[{"name":"a","required":true,"title":"A"},{}]}`)), Prompts); len(it.Args) != 2 || it.Args[0] != (PromptArg{Name: "a", Title: "A", Required: true}) || it.Flaw == nil {
		t.Errorf("%+v", it)
	}
}
