package expert

import (
	"bytes"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/schema"
)

// tool is what is known of a tool.
type tool struct {
	input, output []byte            // as listed
	args, result  *schema.Schema    // made on first use
	checked       map[uint64]string // what is wrong with a value that came before, by its hash
}

// maxChecked is how many values of one tool are remembered as checked.
const maxChecked = 256

// learn takes in a page of tools/list.
func (s *server) learn(q *request, result []byte, whole bool) {
	if q.cursor == 0 {
		s.tools, s.bytes, s.listing = map[string]*tool{}, 0, true
	}
	s.complete = false
	s.listing = s.listing && whole
	ok := jsonrpc.Elements(jsonrpc.Get(result, "tools"), func(raw []byte) bool {
		t, name := &tool{}, ""
		err := jsonrpc.Members(raw, func(key string, value []byte) bool {
			switch key {
			case "name":
				name = quoted(value)
			case "inputSchema":
				t.input = value
			case "outputSchema":
				t.output = value
			}
			return true
		})
		n := len(t.input) + len(t.output)
		if err != nil || len(s.tools) >= maxTools || s.bytes+n > maxSchemas {
			s.listing = false
			return err == nil && len(s.tools) < maxTools
		}
		t.input, t.output = bytes.Clone(t.input), bytes.Clone(t.output)
		s.tools[name], s.bytes = t, s.bytes+n
		return true
	})
	s.listing = s.listing && ok == nil
	s.complete = s.listing && jsonrpc.Get(result, "nextCursor") == nil
}

// unknown reports whether the server certainly has no tool of this name.
func (s *server) unknown(name string) bool { return s.complete && s.tools[name] == nil }

// arguments says how a call's arguments violate the tool's inputSchema.
func (t *tool) arguments(raw []byte) string {
	if len(t.input) == 0 {
		return ""
	}
	if t.args == nil {
		t.args = schema.Parse(t.input)
	}
	return t.verdict(t.args, raw, "/params/arguments", 0)
}

// structured says how a call's result violates the tool's outputSchema.
func (t *tool) structured(raw []byte) string {
	if t.result == nil {
		t.result = schema.Parse(t.output)
	}
	return t.verdict(t.result, raw, "/result/structuredContent", 1)
}

func (t *tool) verdict(s *schema.Schema, raw []byte, at string, salt uint64) string {
	h := hash(raw) ^ salt
	if v, ok := t.checked[h]; ok {
		return v
	}
	problems, _ := s.ValidateJSON(raw)
	v := describe(at, problems)
	if t.checked == nil || len(t.checked) >= maxChecked {
		t.checked = map[uint64]string{}
	}
	t.checked[h] = v
	return v
}
