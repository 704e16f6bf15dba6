package expect

import (
	"maps"
	"slices"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxPreview is how much of a value a failure shows, in bytes.
const maxPreview = 200

// Preview is the beginning of a value as JSON, however large the value is.
func Preview(v any, size int) string {
	var b strings.Builder
	preview(&b, v, size)
	return text.Clip(b.String(), size)
}

func preview(b *strings.Builder, v any, size int) {
	if b.Len() > size {
		return
	}
	switch v := v.(type) {
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if b.Len() > size {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			preview(b, e, size)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		names := slices.Collect(maps.Keys(v))
		if len(names) < 10_000 {
			slices.Sort(names)
		}
		for i, name := range names {
			if b.Len() > size {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(jsonrpc.Quote(text.Clip(name, size)))
			b.WriteByte(':')
			preview(b, v[name], size)
		}
		b.WriteByte('}')
	case string:
		b.Write(jsonrpc.Quote(text.Clip(v, size+1)))
	default:
		if out, err := gojq.Marshal(v); err == nil { // a scalar
			b.Write(out)
		}
	}
}
