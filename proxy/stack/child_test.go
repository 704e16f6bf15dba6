package stack

import "testing"

func TestLastWords(t *testing.T) {
	for last, want := range map[string]string{
		`{"error":{"kind":"Usage","message":"no such folder"}}`:            "no such folder",
		`{"level":"ERROR","msg":"listener failed","error":"closed"}`:       "listener failed",
		`{"time":"x","level":"INFO","msg":"MCP tool called","tool":"add"}`: "",
		"panic: oh no": "panic: oh no",
		`{"other": 1}`: `{"other": 1}`,
		"":             "",
	} {
		if got := (&child{last: last}).words(); got != want {
			t.Errorf("%s: %q, want %q", last, got, want)
		}
	}
}
