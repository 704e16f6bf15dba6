package peertest

import "testing"

// TestConformanceFrames: the schema of each revision lets through what it defines, and nothing else of the same method.
func TestConformanceFrames(t *testing.T) {
	frames := map[string]*Frames{}
	for _, r := range Revisions() {
		frames[r.Name] = NewFrames(t, r.Name)
	}
	for _, c := range []struct {
		revision, method, frame string
		ok                      bool
	}{
		{"2025-11-25", "initialize", initialize, true},
		{"2025-11-25", "initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, false},
		{"2025-11-25", "elicitation/create", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":[],"b":0.5}}}`, true},
		{"2025-11-25", "elicitation/create", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"a":{}}}}`, false},
		{"2025-11-25", "elicitation/create", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, true},
		{"2025-11-25", "elicitation/create", `{"jsonrpc":"2.0","id":1,"error":{"code":"-1","message":"no"}}`, false},
		{"2025-11-25", "server/discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, true}, // as one of an extension
		{"2026-07-28", "server/discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, false},
		{"2026-07-28", "notifications/cancelled", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`, false},
		{"2026-07-28", "x", `{"jsonrpc":"2.0","id":{},"method":"x"}`, false},
	} {
		if err := frames[c.revision].Check(c.method, []byte(c.frame)); (err == nil) != c.ok {
			t.Errorf("%s: %s: %v", c.revision, c.frame, err)
		}
	}
}
