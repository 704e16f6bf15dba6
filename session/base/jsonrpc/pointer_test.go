package jsonrpc_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What is escaped comes back, also where one escape looks like another.
func TestTokens(t *testing.T) {
	for name, step := range map[string]string{"": "", "plain": "plain", "a/b": "a~1b", "~": "~0", "~1": "~01", "~0/~": "~00~1~0", "0": "0"} {
		assert.Equal(t, jsonrpc.EscapeToken(name), step)
		assert.Equal(t, jsonrpc.UnescapeToken(step), name)
	}
}
