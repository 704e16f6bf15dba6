package hostile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/serve/fault"
)

// entry is a tool in the list: its name, what it does, and the properties of its arguments as JSON.
type entry struct{ name, does, properties string }

func (e entry) json() string {
	return `{"name":` + quote(e.name) + `,"description":` + quote(e.does) + `,"inputSchema":{"type":"object","properties":{` + e.properties + `}}}`
}

// number1 is a schema of one number.
func number1(key string, def int) string {
	return fmt.Sprintf(`"%s":{"type":"integer","minimum":0,"default":%d}`, key, def)
}

// mode is a way to answer tools/list.
type mode struct {
	name, does string
	list       func(s *Server, n int) string // from n on
}

// onePage is a list of one page, with the tool that gets one out of it.
func onePage(tools func() []string) func(*Server, int) string {
	return func(*Server, int) string { return listOf(append(tools(), control()...), "") }
}

// modes are all of them, the first one that of the start.
func modes() []mode {
	return []mode{
		{"normal", "every tool of this profile", func(*Server, int) string { return listOf(normal(), "") }},
		{"names", "tools whose names are the payloads, twice each", onePage(func() (all []string) {
			for _, p := range fault.Payloads() {
				if isListed(p) {
					all = append(all, entry{p.Text, p.Name, ""}.json(), entry{p.Text, p.Name, ""}.json())
				}
			}
			return all
		})},
		{"long_names", "three tools with names of a megabyte", onePage(func() (all []string) {
			for _, c := range []string{"x", "日", "\u0301"} {
				all = append(all, entry{strings.Repeat(c, 1<<20/len(c)), "A long name", ""}.json())
			}
			return all
		})},
		{"schemas", "schemas with $ref loops, remote $ref, 50,000 levels, 100,000 choices, catastrophic patterns", onePage(schemas)},
		{"broken", "entries with members missing or of the wrong type", onePage(func() []string {
			return []string{
				`null`, `7`, `[]`, `{}`, `{"name":7}`, `{"name":null,"inputSchema":{}}`, `{"name":"no_schema"}`, `{"name":"schema_array","inputSchema":[]}`,
				`{"name":"schema_true","inputSchema":true}`, `{"name":"schema_string","inputSchema":"object"}`, `{"name":"type_number","inputSchema":{"type":7}}`,
				`{"name":"properties_array","inputSchema":{"type":"object","properties":[]}}`, `{"name":"required_string","inputSchema":{"type":"object","required":"a"}}`,
				`{"name":"description_object","description":{},"title":[],"annotations":"x","icons":{"src":"javascript:alert(1)"},"inputSchema":{"type":"object"}}`,
			}
		})},
		{"bytes", "tools with names and texts that are not UTF-8: the whole answer is not JSON", onePage(func() (all []string) {
			for _, p := range fault.Payloads() {
				if !utf8.ValidString(p.Text) {
					all = append(all, entry{p.Text, p.Text, ""}.json())
				}
			}
			return all
		})},
		{"million", "a million tools on pages of 10,000", func(_ *Server, n int) string {
			const size, total = 10_000, 1_000_000
			if n = min(max(n, 0), total-size); n+size < total {
				return page(n, size, strconv.Itoa(n+size))
			}
			return page(n, size, "")
		}},
		{"endless", "pages without end", func(_ *Server, n int) string { return page(max(n, 0), 10, strconv.Itoa(max(n, 0)+10)) }},
		{"repeating", "pages whose cursor is always the same", func(*Server, int) string { return page(0, 10, "again") }},
		{"changing", "other tools each time", func(s *Server, _ int) string {
			return listOf(append([]string{entry{"tool_" + strconv.FormatInt(s.list.Add(1), 10), "Was not there before", ""}.json()}, control()...), "")
		}},
	}
}

// maxShown is the longest payload that stands in lists; longer ones would make a list of 10 MB of each.
const maxShown = 64 << 10

// isListed reports whether the payload stands in ordinary lists. One that is not UTF-8 does not: a strict client would refuse
// the whole list, and nobody could call the others by name.
func isListed(p fault.Payload) bool { return len(p.Text) <= maxShown && utf8.ValidString(p.Text) }

// tools is the list of tools from a cursor on.
func (s *Server) tools(cursor string) string {
	n, _ := strconv.Atoi(cursor)
	return modes()[s.mode.Load()].list(s, n)
}

// page is a part of a long list.
func page(from, count int, next string) string {
	all := make([]string, count)
	for i := range all {
		all[i] = entry{"tool_" + strconv.Itoa(from+i), "One of many", ""}.json()
	}
	return listOf(all, next)
}

func listOf(all []string, next string) string {
	out := `{"tools":[` + strings.Join(all, ",") + `]`
	if next != "" {
		out += `,"nextCursor":` + quote(next)
	}
	return out + `}`
}

// control are the tools that lists of other modes have too, so that one gets out of them.
func control() []string {
	var names []string
	for _, m := range modes() {
		names = append(names, quote(m.name))
	}
	return []string{entry{modeTool, modeDoes(), `"mode":{"type":"string","enum":[` + strings.Join(names, ",") + `]}`}.json()}
}

// normal is every tool: the payloads, which say what they are in words that nobody should print, and the rest.
func normal() []string {
	all := control()
	for _, e := range askingTools() {
		all = append(all, e.json())
	}
	for _, t := range special() {
		all = append(all, t.json())
	}
	for _, e := range raw() {
		all = append(all, e.json())
	}
	const as = `"as":{"type":"string","enum":["text","error","rpc_error","structured","link","log","stderr"],"default":"text"}`
	for _, p := range fault.Payloads() {
		q := quote(p.Text)
		if !isListed(p) {
			all = append(all, entry{p.Slug(), p.Name, as}.json())
			continue
		}
		all = append(all, `{"name":"`+p.Slug()+`","title":`+q+`,"description":`+q+`,"annotations":{"title":`+q+`,"readOnlyHint":true},"inputSchema":{"type":"object","title":`+q+
			`,"description":`+q+`,"properties":{`+as+`,"payload":{"type":"string","title":`+q+`,"description":`+q+`,"enum":[`+q+`,"other"],"default":`+q+`}}}}`)
	}
	return all
}

func schemas() []string {
	tool := func(name, schema string) string {
		return `{"name":"` + name + `","description":"A schema to be careful with","inputSchema":` + schema + `}`
	}
	choices := make([]string, 100_000)
	for i := range choices {
		choices[i] = `"choice ` + strconv.Itoa(i) + `"`
	}
	return []string{
		tool("ref_loop", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}}`),
		tool("ref_self", `{"$ref":"#"}`),
		tool("ref_recursive", `{"type":"object","properties":{"child":{"$ref":"#"}},"required":["child"]}`),
		tool("ref_remote", `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:9/schema.json"},"b":{"$ref":"file:///etc/passwd"}}}`),
		tool("ref_nowhere", `{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`),
		tool("ref_bomb", doublingSchema(25)),
		tool("deep", nest(`{"type":"object","properties":{"a":`, `{"type":"string"}`, `}}`, 25_000)),
		tool("deep_any_of", nest(`{"anyOf":[`, `{"type":"string"}`, `]}`, 5_000)),
		tool("many_choices", `{"type":"object","properties":{"a":{"type":"string","enum":[`+strings.Join(choices, ",")+`]}}}`),
		tool("catastrophic_pattern", `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"},"b":{"type":"string","pattern":"("}}}`),
		tool("contradiction", `{"type":"object","allOf":[{"type":"string"},{"type":"number"}],"not":{},"minProperties":5,"maxProperties":1}`),
		tool("prototype", `{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"":{"type":"string"},"toString":{"type":"integer"}}}`),
		tool("numbers", `{"type":"object","properties":{"a":{"type":"number","minimum":1e308,"maximum":-1e308,"multipleOf":0},"b":{"type":"array","minItems":1000000000},"c":{"type":"string","minLength":1e18}}}`),
		tool("required_unknown", `{"type":"object","required":["not there"],"additionalProperties":false}`),
	}
}

// doublingSchema is a schema of n definitions, each of which uses the one before twice: expanded, it has 2^n parts.
func doublingSchema(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d` + strconv.Itoa(n) + `","type":"object","$defs":{"d0":{"type":"object"}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `,"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`, i, i-1, i-1)
	}
	return b.String() + `}}`
}
