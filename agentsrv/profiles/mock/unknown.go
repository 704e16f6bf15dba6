package mock

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/schema"
)

func clip(s string) string { return text.Clip(s, 200) }

// example is a result made of a tool's output schema, nil if it has none.
func (m *Mock) example(q asked) []byte {
	if q.method != string(mcp.MethodToolsCall) || q.task || q.round != nil {
		return nil
	}
	raw := jsonrpc.Get(m.rec.item(string(mcp.MethodToolsList), "name", jsonrpc.GetString(q.base, "name")), "outputSchema")
	if raw == nil {
		return nil
	}
	root := schema.Parse(raw).Root()
	if root == nil {
		return nil
	}
	value := root.Example().JSON()
	if len(value) == 0 || value[0] != '{' {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`{"content":[{"type":"text","text":`)
	b.Write(jsonrpc.Quote(string(value)))
	b.WriteString(`}],"structuredContent":`)
	b.Write(value)
	b.WriteString(`,"_meta":{"` + metaKey + `":{"example":true}}}`)
	return b.Bytes()
}

// How much of what is recorded an error names.
const (
	maxNamed  = 8
	maxNaming = 100
)

// errNotRecorded refuses what is not recorded, and names what is.
func (m *Mock) errNotRecorded(q asked) error {
	var known []string
	what, kind := q.method, jsonrpc.KindInvalidParams
	v := m.rec.variantsOf(q.group)
	switch {
	case v != nil && q.round == nil:
		key := map[string]string{string(mcp.MethodToolsCall): "arguments", string(mcp.MethodPromptsGet): "arguments"}[q.method]
		for _, i := range v.first[:min(len(v.first), maxNamed)] {
			base := question(q.method, m.rec.envelope(m.rec.calls[i].seq).Params).base
			if key != "" {
				base = jsonrpc.Get(base, key)
			}
			known = append(known, text.Clip(string(base), maxNaming))
		}
		if more := len(v.first) - len(known); more > 0 {
			known = append(known, fmt.Sprintf("%d more", more))
		}
		if q.target != "" {
			what += " " + clip(q.target)
		}
		what += " with these arguments"
	case v != nil:
		return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "not in the recording: this round of %s %s; make the request again without requestState", q.method, clip(q.target))
	case q.target != "":
		for _, name := range m.rec.targets(q.method) {
			known = append(known, clip(name))
		}
		if len(known) > maxNamed {
			known = append(known[:maxNamed], fmt.Sprintf("%d more", len(known)-maxNamed))
		}
		what += " " + clip(q.target)
		switch mcp.MCPMethod(q.method) {
		case mcp.MethodToolsCall:
			kind = jsonrpc.KindToolNotFound
		case mcp.MethodResourcesRead:
			kind = jsonrpc.KindResourceNotFound
		}
	default:
		kind = jsonrpc.KindMethodNotFound
	}
	recorded := "nothing of it"
	if len(known) > 0 {
		recorded = strings.Join(known, ", ")
	}
	m.log.Warn("not recorded: refused", "method", q.method, "target", clip(q.target))
	return jsonrpc.Errorf(kind, "not in the recording: %s; recorded: %s", what, recorded).With("recorded", append([]string{}, known...))
}
