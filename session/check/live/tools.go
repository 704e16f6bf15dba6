package live

import (
	"bytes"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// tool has the schemas of a tool of a server.
type tool struct {
	input, output []byte         // as listed
	args, result  *schema.Schema // made on first use
}

// maxChecked is how many values for the tools of a server are remembered as checked.
const maxChecked = 4_096

// forgetTools drops the tools of a server, when they change or are listed again.
func (ck *Checker) forgetTools(s *server) {
	// Once maxServers were reached, the bytes of a server that a connection still has are not counted any more.
	ck.schemas = max(ck.schemas-s.bytes, 0)
	s.tools, s.bytes, s.checked, s.complete, s.allPages = map[string]*tool{}, 0, nil, false, false
}

// learnTools adds the tools of a page of tools/list.
func (ck *Checker) learnTools(c *conn, q *request, result []byte, whole bool) {
	s := c.server
	if q.cursor == 0 {
		ck.forgetTools(s)
		s.allPages, s.listedOn = true, c.key.conn
	}
	s.complete = false
	s.allPages = s.allPages && whole // of what was cut off nobody knows which tools it had
	ok := jsonrpc.Elements(jsonrpc.Get(result, "tools"), func(raw []byte) bool {
		t, name := &tool{}, ""
		err := jsonrpc.Members(raw, func(key string, value []byte) bool {
			switch key {
			case "name":
				name = unquote(value)
			case "inputSchema":
				t.input = value
			case "outputSchema":
				t.output = value
			}
			return true
		})
		n := len(name) + len(t.input) + len(t.output)
		if err != nil || len(name) > maxKept || len(s.tools) >= maxTools || s.bytes+n > maxSchemas || ck.schemas+n > maxAll {
			s.allPages = false
			return err == nil && len(s.tools) < maxTools // one with large schemas, or a long name, is left out, those after it are not
		}
		t.input, t.output = bytes.Clone(t.input), bytes.Clone(t.output) // the body is not kept
		s.tools[strings.Clone(name)], s.bytes = t, s.bytes+n
		ck.schemas += n
		return true
	})
	s.allPages = s.allPages && ok == nil
	s.complete = s.allPages && jsonrpc.Get(result, "nextCursor") == nil
}

// lacksTool reports whether the server certainly has no tool of this name for the client of this connection: tools may differ by the authorization
// (2026-07-28/server/tools#capabilities), and what was listed on another connection says nothing about this one.
func (c *conn) lacksTool(name string) bool {
	s := c.server
	return s.complete && s.listedOn == c.key.conn && s.tools[name] == nil && name != ""
}

// argumentsVerdict says how a call's arguments violate the tool's inputSchema.
func (s *server) argumentsVerdict(t *tool, raw []byte) string {
	if len(t.input) == 0 {
		return ""
	}
	if t.args == nil {
		t.args = schema.Parse(t.input)
	}
	return s.verdict(t.args, raw, "/params/arguments")
}

// resultVerdict says how a call's result violates the tool's outputSchema.
func (s *server) resultVerdict(t *tool, raw []byte) string {
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
	v := describe(at, schema.Certain(problems, raw, mask.Unknown)) // of a secret that was taken out nobody knows whether it fits
	if s.checked == nil || len(s.checked) >= maxChecked {
		s.checked = map[uint64]string{}
	}
	s.checked[h] = v
	return v
}
