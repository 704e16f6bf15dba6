package history

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Unmasked is the arguments without what was hidden in them: an array that had a secret in it goes as a whole. What is missing has to be
// given again.
func (c Call) Unmasked() []byte { return without(c.Arguments, c.Secrets, "/arguments") }

// UnmaskedMeta is the same of the metadata.
func (c Call) UnmaskedMeta() []byte { return without(c.Meta, c.Secrets, "/meta") }

// without is an object without the members that pointers below a prefix lead to.
func without(value []byte, pointers []string, prefix string) []byte {
	for _, p := range pointers {
		rest, ok := strings.CutPrefix(p, prefix)
		switch {
		case !ok:
			continue
		case rest == "":
			return nil
		}
		var path []string
		at := value
		for token := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
			if len(at) == 0 || at[0] != '{' {
				break
			}
			name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
			path = append(path, name)
			at = jsonrpc.Get(at, name)
		}
		if out, err := jsonrpc.Update(value, jsonrpc.Delete(path...)); err == nil && len(path) > 0 {
			value = out
		} else {
			return nil
		}
	}
	return value
}
