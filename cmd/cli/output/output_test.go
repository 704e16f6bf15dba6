package output

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a": 1.0}`:         `{"a": 1.0}`,
		"{\"a\":\n 1.0\r\n}": `{"a":1.0}`,
		"{\n\"<\":\"&\"}":    `{"<":"&"}`,
		"broken\r\n{":        "broken {",
	} {
		assert.Equalf(t, string(OneLine([]byte(in))), want, "%q", in)
	}
}
