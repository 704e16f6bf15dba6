package behave

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/serve/fault"
)

// list answers the four list methods; "" means that the method is not there.
func (s *server) list(r request) string {
	if s.mode == ListError {
		return failure(r.ID, -32050, "The list is being rebuilt", `{"retryAfter":30,"shard":{"id":9007199254740993}}`)
	}
	if r.Method == "tools/list" {
		return s.listTools(r)
	}
	if s.mode == Bare || s.mode == Liar {
		return ""
	}
	label := func(plain string) string {
		if s.mode == HostileText {
			return quote(payloads())
		}
		return quote(plain)
	}
	switch r.Method {
	case "resources/list":
		return s.page(r, "resources", `[{"uri":"fake://text","name":`+label("text")+`,"description":`+label("A text resource")+`,"mimeType":"text/plain"},`+
			`{"uri":"fake://blob","name":`+label("blob")+`,"mimeType":"application/octet-stream","size":4}]`)
	case "resources/templates/list":
		return s.page(r, "resourceTemplates", `[{"uriTemplate":"fake://item/{id}{?q}","name":`+label("item")+`,"description":`+label("One item")+`}]`)
	default:
		return s.page(r, "prompts", `[{"name":"simple","description":`+label("No arguments")+`},`+
			`{"name":"greet","description":`+label("Greets somebody")+`,"arguments":[{"name":"who","description":`+label("Whom to greet")+`,"required":true},{"name":"tone"}]}]`)
	}
}

// page frames the only page of a list.
func (s *server) page(r request, member, items string) string {
	if s.mode == Modern {
		return result(r.ID, `{"resultType":"complete","`+member+`":`+items+`,"ttlMs":60000,"cacheScope":"private"}`)
	}
	return result(r.ID, `{"`+member+`":`+items+`}`)
}

// listTools answers tools/list.
func (s *server) listTools(r request) string {
	s.mu.Lock()
	s.lists++
	n := s.lists
	s.mu.Unlock()
	switch s.mode {
	case ManyTools:
		return result(r.ID, `{"tools":`+s.tools+`}`)
	case Oversize:
		return oversized(r)
	case BadUTF8:
		return strings.Replace(result(r.ID, `{"tools":[`+plainTool("bad", "BAD")+`]}`), "BAD", "\xff\xfe\xc0\xaf", 1)
	case DeepSchema:
		return result(r.ID, `{"tools":[`+plainTool("before", "A plain one")+`,{"name":"deep","inputSchema":`+deepSchema(deepLevels)+`},`+plainTool("later", "Another plain one")+`]}`)
	case Changing:
		return result(r.ID, `{"tools":[`+numbered(0, n)+`]}`)
	case Pages, RepeatCursor, EndlessCursor:
		return s.pages(r)
	case HostileText:
		return result(r.ID, `{"tools":`+hostileTools()+`}`)
	case Malformed:
		return result(r.ID, `{"tools":`+malformedTools()+`}`)
	}
	return s.page(r, "tools", goodTools())
}

// pages answers one page of ten tools.
func (s *server) pages(r request) string {
	first, cursor := 0, r.Params.Cursor
	if cursor != nil {
		first = 10 // the cursor "" is that of the second page
		if n, err := strconv.Atoi(*cursor); err == nil {
			first = n
		}
	}
	next := strconv.Itoa(first + 10)
	switch {
	case s.mode == RepeatCursor:
		next = "10"
	case s.mode == Pages && first == 0:
		next = ""
	case s.mode == Pages && first >= 90:
		return result(r.ID, `{"tools":[`+numbered(first, first+10)+`]}`)
	}
	return result(r.ID, `{"tools":[`+numbered(first, first+10)+`],"nextCursor":`+quote(next)+`}`)
}

// numbered renders the tools n0 … n(to-1), comma-separated.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(',')
		}
		b.WriteString(plainTool("n"+strconv.Itoa(i), "Tool number "+strconv.Itoa(i)))
	}
	return b.String()
}

// oversized renders a list frame of exactly oversizeBytes.
func oversized(r request) string {
	frame := result(r.ID, `{"tools":[`+plainTool("huge", "PAD")+`]}`)
	return strings.Replace(frame, "PAD", filler(oversizeBytes-len(frame)+len("PAD")), 1)
}

// hostileTools renders one tool per hostile string, with the string in every field that is shown.
func hostileTools() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, h := range fault.PayloadTexts(maxPayload) {
		if i > 0 {
			b.WriteByte(',')
		}
		q := quote(h)
		fmt.Fprintf(&b, `{"name":%s,"title":%s,"description":%s,"inputSchema":{"type":"object","title":%s,"description":%s,`+
			`"properties":{%s:{"type":"string","title":%s,"description":%s,"default":%s,"enum":[%s,"x"],"examples":[%s]}},"required":[%s]},`+
			`"annotations":{"title":%s},"icons":[{"src":%s}],"_meta":{%s:%s}}`,
			quote(fmt.Sprintf("h%02d %s", i, h)), q, q, q, q, q, q, q, q, q, q, q, q, q, q, q)
	}
	b.WriteByte(']')
	return b.String()
}

// malformedTools renders items that no schema of the protocol allows.
func malformedTools() string {
	return `[` + plainTool("first", "A good one") + `,null,42,"text",[],{},true,` +
		`{"name":7,"inputSchema":{"type":"object"}},{"name":"","inputSchema":{"type":"object"}},{"name":"no_schema"},` +
		`{"name":"schema_text","inputSchema":"object"},{"name":"schema_null","inputSchema":null},{"name":"schema_bool","inputSchema":true},` +
		`{"name":"type_array","inputSchema":{"type":["object","null"],"properties":{"a":{"type":"string"}}}},` +
		`{"name":"type_string","inputSchema":{"type":"string"}},{"name":"description_object","description":{"en":"hello"},"inputSchema":{"type":"object"}},` +
		`{"name":"annotations_array","annotations":[],"inputSchema":{"type":"object"}},{"name":"output_array","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}},` +
		`{"name":"twice","inputSchema":{"type":"object"}},{"name":"twice","inputSchema":{"type":"object"}},` +
		`{"name":"ref_loop","inputSchema":{"$ref":"#"}},{"name":"remote_ref","inputSchema":{"$ref":"http://127.0.0.1:1/schema.json"}},` +
		plainTool("last", "A good one") + `]`
}

// get answers resources/read, prompts/get and completion/complete; "" means that the method is not there.
func (s *server) get(r request) string {
	if s.mode == Liar || s.mode == Bare {
		return ""
	}
	shown := func(plain string) string {
		if s.mode == HostileText {
			return quote(payloads())
		}
		return quote(plain)
	}
	kind := ""
	if s.mode == Modern {
		kind = `"resultType":"complete",`
	}
	switch {
	case r.Method == "completion/complete":
		return result(r.ID, `{`+kind+`"completion":{"values":[`+shown("Ada")+`,"Alan"],"total":2,"hasMore":false}}`)
	case r.Method == "prompts/get" && (r.Params.Name == "simple" || r.Params.Name == "greet"):
		return result(r.ID, `{`+kind+`"description":`+shown("A prompt")+`,"messages":[{"role":"user","content":{"type":"text","text":`+
			shown("Arguments: "+string(r.Params.Arguments))+`}}]}`)
	case r.Method == "prompts/get":
		return failure(r.ID, -32602, "Unknown prompt", `{"name":`+quote(r.Params.Name)+`}`)
	case r.Params.URI == "fake://blob":
		return result(r.ID, `{`+kind+`"contents":[{"uri":"fake://blob","mimeType":"application/octet-stream","blob":"AAEC/w=="}]}`)
	case strings.HasPrefix(r.Params.URI, "fake://"):
		return result(r.ID, `{`+kind+`"contents":[{"uri":`+quote(r.Params.URI)+`,"mimeType":"text/plain","text":`+shown("Text of "+r.Params.URI)+`}]}`)
	}
	return failure(r.ID, -32002, "Resource not found", `{"uri":`+quote(r.Params.URI)+`}`)
}
