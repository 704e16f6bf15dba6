package expert

import (
	"bytes"
	"strings"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/schema"
)

// tool is what is known of a tool.
type tool struct {
	input, output []byte         // as listed
	args, result  *schema.Schema // made on first use
}

// maxChecked is how many values for the tools of a server are remembered as checked.
const maxChecked = 4_096

// learn takes in a page of tools/list.
func (ck *Checker) learn(s *server, q *request, result []byte, whole bool) {
	if q.cursor == 0 {
		ck.schemas = max(ck.schemas-s.bytes, 0)
		s.tools, s.bytes, s.listing, s.checked = map[string]*tool{}, 0, true, nil
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
		if err != nil || len(s.tools) >= maxTools || s.bytes+n > maxSchemas || ck.schemas+n > maxAll {
			s.listing = false
			return err == nil && len(s.tools) < maxTools
		}
		t.input, t.output = bytes.Clone(t.input), bytes.Clone(t.output)
		s.tools[strings.Clone(name)], s.bytes = t, s.bytes+n
		ck.schemas += n
		return true
	})
	s.listing = s.listing && ok == nil
	s.complete = s.listing && jsonrpc.Get(result, "nextCursor") == nil
}

// unknown reports whether the server certainly has no tool of this name.
func (s *server) unknown(name string) bool { return s.complete && s.tools[name] == nil }

// arguments says how a call's arguments violate the tool's inputSchema.
func (s *server) arguments(t *tool, raw []byte) string {
	if len(t.input) == 0 {
		return ""
	}
	if t.args == nil {
		t.args = schema.Parse(t.input)
	}
	return s.verdict(t.args, raw, "/params/arguments")
}

// structured says how a call's result violates the tool's outputSchema.
func (s *server) structured(t *tool, raw []byte) string {
	if t.result == nil {
		t.result = schema.Parse(t.output)
	}
	return s.verdict(t.result, raw, "/result/structuredContent")
}

// verdict says how a value violates a schema of a tool.
func (s *server) verdict(by *schema.Schema, raw []byte, at string) string {
	h := hash(raw) ^ hash(by.Raw())
	if v, ok := s.checked[h]; ok {
		return v
	}
	problems, _ := by.ValidateJSON(raw)
	v := describe(at, problems)
	if s.checked == nil || len(s.checked) >= maxChecked {
		s.checked = map[uint64]string{}
	}
	s.checked[h] = v
	return v
}
