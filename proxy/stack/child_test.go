package stack

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestLastWords(t *testing.T) {
	for last, want := range map[string]string{
		`{"error":{"kind":"Usage","message":"no such folder"}}`:            "no such folder",
		`{"level":"ERROR","msg":"listener failed","error":"closed"}`:       "listener failed",
		`{"time":"x","level":"INFO","msg":"MCP tool called","tool":"add"}`: "",
		"panic: oh no": "panic: oh no",
		`{"other": 1}`: `{"other": 1}`,
		"":             "",
	} {
		assert.Equalf(t, (&child{last: last}).lastWords(), want, "%s", last)
	}
}

func TestFigures(t *testing.T) {
	for text, want := range map[string]Figures{
		`{"tools":{"calls":7},"queue":{"queued":2,"running":1,"concurrency":1}}`:                     {Requests: 7, Queued: 2, Running: 1, Known: true},
		`{"agents":{"a":{"requests":3,"in_flight":1},"b":{"requests":4,"in_flight":2}},"routes":{}}`: {Requests: 7, Running: 3, Known: true},
		`{"error":"unauthorized"}`: {},
		`[1]`:                      {},
		``:                         {},
	} {
		if got, ok := readFigures([]byte(text)); got != want || ok != want.Known {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
