package agentsrv_test

import (
	"encoding/json"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const batchMethod = "tools/call_batch"

// offers reports whether the agent says that it has the batch method.
func offers(t *testing.T, c caller) bool {
	t.Helper()
	var said struct {
		Capabilities struct{ Experimental map[string]json.RawMessage }
	}
	method, params := "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}}
	if c.modern {
		method, params = "server/discover", nil
	}
	if err := c.ask(t, method, params, &said); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return said.Capabilities.Experimental[batchMethod] != nil
}

func calls(items ...string) map[string]any {
	var list []json.RawMessage
	for _, i := range items {
		list = append(list, json.RawMessage(i))
	}
	return map[string]any{"calls": list}
}

func TestP12_BatchIsOffByDefault(t *testing.T) {
	for _, modern := range []bool{false, true} {
		c := caller{url: start(t, agentsrv.Options{}), modern: modern}
		if offers(t, c) {
			t.Error("the method is advertised")
		}
		err := c.ask(t, batchMethod, calls(`{"name":"echo","arguments":{"message":"x"}}`), &struct{}{})
		if err == nil || err.Code != -32601 {
			t.Errorf("modern %t: %v", modern, err)
		}
	}
}

func TestP12_BatchCallsEachToolByItself(t *testing.T) {
	for modern, limited := range map[bool]int64{false: -32002, true: -31002} {
		c := caller{url: start(t, agentsrv.Options{Batch: true, RateLimit: 5}), modern: modern}
		if !offers(t, c) {
			t.Error("the method is not advertised")
		}
		var got struct {
			Results []struct {
				Index  int
				Result *toolResult
				Error  *jsonrpc.Error
			}
		}
		err := c.ask(t, batchMethod, calls(
			`{"name":"sleep","arguments":{"seconds":0.05,"steps":1}}`,
			`{"name":"echo","arguments":{"message":"second"}}`,
			`{"name":"nope","arguments":{}}`,
			`{"name":"fail","arguments":{"message":"as asked"}}`,
			`{"name":"add","arguments":{"a":9007199254740993,"b":0}}`), &got)
		if err != nil || len(got.Results) != 5 {
			t.Fatalf("modern %t: %v, %+v", modern, err, got)
		}
		for i, want := range []string{"slept 50ms in 1 steps", "second", "", "as asked", "9007199254740993"} {
			r := got.Results[i]
			switch {
			case r.Index != i:
				t.Errorf("item %d says it is %d", i, r.Index)
			case want == "":
				if r.Error == nil || r.Error.Code != -32602 || r.Error.Message != "Tool 'nope' not found" {
					t.Errorf("item %d: %+v", i, r)
				}
			case r.Result == nil || r.Result.Content[0].Text != want || r.Result.IsError != (want == "as asked"):
				t.Errorf("item %d: %+v", i, r)
			}
		}
		// Each call counted, so that the next ones are refused, item by item.
		if err := c.ask(t, batchMethod, calls(`{"name":"echo","arguments":{"message":"x"}}`, `{"name":"echo","arguments":{"message":"y"}}`), &got); err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, r := range got.Results {
			if r.Error != nil && r.Error.Code == limited {
				refused++
			}
		}
		if len(got.Results) != 2 || refused < 1 {
			t.Errorf("modern %t: %d of %d refused by the limit of 5 a minute", modern, refused, len(got.Results))
		}
	}
}
