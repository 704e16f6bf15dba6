package jsonrpc

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestP1_SameID(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1`, true},
		{`1`, `1.0`, true},
		{`1e1`, `10`, true},
		{`1`, `"1"`, false},
		{`"1"`, `1`, false},
		{`1`, `2`, false},
		{`9007199254740993`, `9007199254740993`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`90071992547409930`, `90071992547409931`, false},
		{`"é"`, `"\u00e9"`, true},
		{`"a"`, `"A"`, false},
		{`"a"`, `"a `, false},
		{`null`, `null`, true},
		{`null`, `0`, false},
		{``, `0`, false},
		{`1e999`, `2e999`, false},
	} {
		assert.Equalf(t, SameID([]byte(c.a), []byte(c.b)), c.same, "%s and %s", c.a, c.b)
		assert.Equalf(t, SameID([]byte(c.b), []byte(c.a)), c.same, "%s and %s", c.b, c.a)
	}
}

func TestIDKey(t *testing.T) {
	for raw, want := range map[string]string{
		`1`: `1`, `1.0`: `1.0`, `"a"`: `"a"`, `"ü ✓"`: `"ü ✓"`, `"\u00fc \u2713"`: `"ü ✓"`, `"\ud83d\ude00 \/"`: `"😀 /"`, `"a\"\\b"`: `"a\"\\b"`, `"\u000a"`: `"\n"`,
		`"\ud800"`: `"\ud800"`, `null`: `null`, ``: ``, `"cut \u00f`: `"cut \u00f`,
	} {
		assert.Equalf(t, IDKey(raw), want, "%s", raw)
	}
}
