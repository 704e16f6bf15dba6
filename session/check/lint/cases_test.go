package lint_test

import (
	"fmt"
	"strings"
)

// ruleCase is a server that a rule finds something in, where, and one that is nearly the same and right.
type ruleCase struct {
	id, trip, at, miss string
	clients            []string // that matter; nil for all
}

// tool is a server with one tool: a good one, with members in place of its own. "-" takes one out.
func tool(members ...string) string { return `{"tools":[` + one(members...) + `]}` }

func one(members ...string) string {
	m := map[string]string{
		"name": `"do_it"`, "title": `"Title of it"`, "description": `"Does what the test wants done."`, "inputSchema": `{"type":"object","properties":{}}`, "annotations": hints(""),
	}
	order := []string{"name", "title", "description", "inputSchema", "annotations"}
	for _, s := range members {
		k, v, _ := strings.Cut(s, ":")
		if _, ok := m[k]; !ok {
			order = append(order, k)
		}
		m[k] = v
	}
	var out []string
	for _, k := range order {
		if m[k] != "-" {
			out = append(out, `"`+k+`":`+m[k])
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// hints are annotations that say what a tool does, beside others.
func hints(others string) string { return `{"readOnlyHint":false` + others + `}` }

// in is a server with one tool with that inputSchema; param with one parameter x that has these keywords beside a description.
func in(schema string) string { return tool("inputSchema:" + schema) }

func param(keywords string) string {
	return in(`{"type":"object","properties":{"x":{"description":"d",` + keywords + `}}}`)
}

const (
	x   = "/inputSchema/properties/x"
	obj = `{"type":"object","properties":{}}`
)

func list(kind, entry string) string { return `{"` + kind + `":[` + entry + `]}` }

// names is a server with a tool for each name.
func names(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, one(`name:"`+n+`"`, `description:"Does what `+n+` is meant to do."`))
	}
	return list("tools", strings.Join(out, ","))
}

// many is a server with n tools.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("tool_%d", i))
	}
	return names(all...)
}

// deep is a schema with n levels of objects below the root.
func deep(n int) string {
	return `{"type":"object","properties":{"x":` + strings.Repeat(`{"type":"object","description":"d","properties":{"x":`, n-1) + `{"type":"string","description":"d"}` + strings.Repeat("}}", n)
}

func prompt(members string) string {
	return list("prompts", `{"name":"ask","description":"Asks for something."`+members+`}`)
}

func resource(members string) string {
	return list("resources", `{"name":"a","description":"d"`+members+`}`)
}

func template(uri string) string {
	return list("resourceTemplates", `{"name":"a","description":"d","uriTemplate":"`+uri+`"}`)
}

func info(name, version string) string {
	return `{"serverInfo":{"name":` + name + `,"version":` + version + `}}`
}

func cases() []ruleCase {
	long := func(n int) string { return strings.Repeat("a", n) }
	all := [][]ruleCase{{
		// tools
		{"lint/not-an-object", list("tools", `"do_it"`), "", tool(), nil},
		{"lint/name-missing", tool("name:-"), "", tool(), nil},
		{"lint/name-duplicate", list("tools", one()+","+one()), "/name", names("do_it", "do_more"), nil},
		{"lint/name-collides", names("do_it", "Do_it"), "/name", names("do_it", "do_its"), nil},
		{"lint/name-characters", tool(`name:"do it"`), "/name", tool(`name:"do-it"`), nil},
		{"lint/name-length", tool(`name:"` + long(129) + `"`), "/name", tool(`name:"` + long(50) + `"`), nil},
		{"lint/name-edge", tool(`name:"-do"`), "/name", tool(`name:"d-o"`), nil},
		{"lint/name-style", names("do_it", "do_more", "do_less", "doNothing"), "/name", names("do_it", "do_more", "do_less", "nothing"), nil},
		{"lint/description-missing", tool("description:-"), "", tool(), nil},
		{"lint/description-repeats-name", tool(`name:"list_open_issues"`, `description:"List open issues."`), "/description", tool(`name:"list_open_issues"`, `description:"Lists the open issues."`), nil},
		{"lint/description-short", tool(`description:"Adds numbers."`), "/description", tool(`description:"Adds two numbers."`), nil},
		{"lint/description-shared", list("tools", one(`name:"a"`)+","+one(`name:"b"`)), "/description", names("a", "b"), nil},
		{"lint/schema-missing", tool("inputSchema:-"), "", tool(), nil},
		{"lint/member-type", tool(`title:7`), "/title", tool(`title:"Seven"`), nil},
		{"lint/annotation-type", tool(`annotations:{"readOnlyHint":"true"}`), "/annotations/readOnlyHint", tool(`annotations:{"readOnlyHint":true}`), nil},
		{"lint/annotation-unknown", tool(`annotations:` + hints(`,"readonly":true`)), "/annotations/readonly", tool(`annotations:` + hints(`,"audience":true`)), nil},
		{"lint/annotation-contradiction", tool(`annotations:{"readOnlyHint":true,"destructiveHint":true}`), "/annotations", tool(`annotations:{"readOnlyHint":false,"destructiveHint":true}`), nil},
		{"lint/annotation-name", tool(`name:"delete_file"`, `annotations:{"readOnlyHint":true}`), "/annotations/readOnlyHint", tool(`name:"find_deleted"`, `annotations:{"readOnlyHint":true}`), nil},
		{"lint/title-missing", list("tools", one("title:-")+","+one(`name:"a"`, `title:" "`, `description:"Another of the tools."`)), "", list("tools", one("title:-", `annotations:`+hints(`,"title":"t"`))+","+one(`name:"a"`, `description:"Another of the tools."`)), nil},
		{"lint/hints-missing", tool("annotations:-"), "", tool(`annotations:{"destructiveHint":false}`), nil},
		{"lint/hints-missing", tool(`annotations:{"title":"t","openWorldHint":false}`), "", tool(`annotations:{"readOnlyHint":true}`), nil},
		{"lint/icon-source", tool(`icons:[{"src":"icon.png"}]`), "/icons/0/src", tool(`icons:[{"src":"https://a.b/icon.png"}]`), nil},
		{"lint/icon-size", tool(`icons:[{"src":"https://a.b/c","sizes":["48"]}]`), "/icons/0/sizes/0", tool(`icons:[{"src":"https://a.b/c","sizes":["48x48","any"]}]`), nil},
		{"lint/header-invalid", param(`"type":"string","x-mcp-header":"a b"`), "/inputSchema", param(`"type":"string","x-mcp-header":"Region"`), nil},
		{"lint/output-schema-type", tool(`outputSchema:{"type":"array","items":{"type":"string"}}`), "/outputSchema", tool(`outputSchema:{"type":"object"}`), nil},
		{"lint/too-large", in(deep(300)), "/inputSchema" + strings.Repeat("/properties/x", 201), in(deep(10)), []string{"cursor"}},
	}, {
		// schemas
		{"lint/keyword-type", param(`"type":"string","minLength":"3"`), x + "/minLength", param(`"type":"string","minLength":3`), nil},
		{"lint/type-unknown", param(`"type":"int"`), x + "/type", param(`"type":"integer"`), nil},
		{"lint/required-unknown", in(`{"type":"object","properties":{},"required":["a"]}`), "/inputSchema/required/0", in(`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":["a"]}`), nil},
		{"lint/required-duplicate", in(`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":["a","a"]}`), "/inputSchema/required", in(`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":[]}`), nil},
		{"lint/default-invalid", param(`"type":"integer","default":"3"`), x + "/default", param(`"type":"integer","default":3`), nil},
		{"lint/example-invalid", param(`"type":"string","pattern":"^a+$","examples":["a","b"]`), x + "/examples", param(`"type":"string","pattern":"^a+$","examples":["a","aa"]`), nil},
		{"lint/enum-duplicate", param(`"type":"string","enum":["a","b","a"]`), x + "/enum", param(`"type":"string","enum":["a","b","A"]`), nil},
		{"lint/enum-type", param(`"type":"string","enum":["a",1]`), x + "/enum", param(`"type":"string","enum":["a","1"]`), []string{"vscode"}},
		{"lint/enum-excluded", param(`"type":"string","pattern":"^[a-z]+$","enum":["a","B"]`), x + "/enum", param(`"type":"string","pattern":"^[a-z]+$","enum":["a","b"]`), nil},
		{"lint/pattern-explodes", param(`"type":"string","pattern":"^(a+)+$"`), x + "/pattern", param(`"type":"string","pattern":"^(a+b)+$"`), nil},
		{"lint/pattern-invalid", param(`"type":"string","pattern":"a("`), x + "/pattern", param(`"type":"string","pattern":"^[\\p{L}\\d]+$"`), nil},
		{"lint/pattern-portability", param(`"type":"string","pattern":"a(?!b)"`), x + "/pattern", param(`"type":"string","pattern":"a(?:b)\\u0041"`), nil},
		{"lint/bounds-reversed", param(`"type":"integer","minimum":5,"maximum":4`), x + "/minimum", param(`"type":"integer","minimum":5,"maximum":5`), nil},
		{"lint/bounds-reversed", param(`"type":"integer","exclusiveMinimum":5,"maximum":5`), x + "/exclusiveMinimum", param(`"type":"integer","exclusiveMinimum":4,"maximum":5`), []string{"vscode"}},
		{"lint/bounds-reversed", param(`"type":"integer","minimum":5,"exclusiveMaximum":5`), x + "/minimum", param(`"type":"integer","minimum":5,"exclusiveMaximum":6`), []string{"vscode"}},
		{"lint/nothing-valid", param(`"type":"string","const":1`), x + "/const", param(`"type":"string","const":"1"`), nil},
		{"lint/ref-missing", param(`"$ref":"#/$defs/a"`), x + "/$ref", in(`{"type":"object","properties":{"x":{"description":"d","$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`), nil},
		{"lint/ref-remote", param(`"$ref":"https://a.b/c.json"`), x + "/$ref", in(`{"type":"object","properties":{"x":{"description":"d","$ref":"#b"}},"$defs":{"a":{"type":"string","$anchor":"b"}}}`), nil},
		{"lint/ref-loop", in(`{"type":"object","properties":{},"$defs":{"a":{"$ref":"#/$defs/a"}}}`), "/inputSchema/$defs/a/$ref", in(`{"type":"object","properties":{},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"}}}`), nil},
		{"lint/member-repeated", param(`"type":"string","type":"string"`), x + "/type", param(`"type":"string","title":"string"`), nil},
		{"lint/keyword-misspelled", param(`"type":"string","minlength":3`), x + "/minlength", param(`"type":"string","flavour":3`), nil},
		{"lint/keyword-openapi", param(`"type":"string","nullable":true`), x + "/nullable", param(`"type":["string","null"]`), nil},
		{"lint/keyword-idle", param(`"type":"integer","minLength":3`), x + "/minLength", param(`"type":"integer","minimum":3`), nil},
		{"lint/dialect-unknown", in(`{"$schema":"https://a.b/c","type":"object","properties":{}}`), "/inputSchema/$schema", in(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{}}`), nil},
		{"lint/parameter-description", in(`{"type":"object","properties":{"x":{"type":"string"}}}`), "/inputSchema/properties", param(`"type":"string"`), nil},
		{"lint/parameter-description", param(`"type":"object","properties":{"y":{"type":"string"}}`), "/inputSchema/properties", in(`{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string","description":"d"}}}}}`), nil},
		{"lint/property-names-collide", in(`{"type":"object","properties":{"user_id":{"type":"string","description":"d"},"userId":{"type":"string","description":"d"}}}`), "/inputSchema/properties/userId", in(`{"type":"object","properties":{"user_id":{"type":"string","description":"d"},"user":{"type":"string","description":"d"}}}`), nil},
	}, {
		// what clients refuse
		{"lint/top-level-union", in(`{"type":"object","properties":{},"oneOf":[{"type":"object"}]}`), "/inputSchema/oneOf", param(`"oneOf":[{"type":"string"}]`), nil},
		{"lint/top-level-enum", in(`{"type":"object","properties":{},"enum":[{}]}`), "/inputSchema/enum", param(`"type":"string","enum":["a"]`), nil},
		{"lint/root-type", in(`{"properties":{}}`), "/inputSchema", in(obj), nil},
		{"lint/properties-missing", in(`{"type":"object"}`), "/inputSchema", in(obj), nil},
		{"lint/property-key", in(`{"type":"object","properties":{"filter[id]":{"type":"string","description":"d"}}}`), "/inputSchema/properties/filter[id]", in(`{"type":"object","properties":{"filter.id":{"type":"string","description":"d"}}}`), nil},
		{"lint/name-dot", tool(`name:"do.it"`), "/name", tool(), nil},
		{"lint/name-start", tool(`name:"7do"`), "/name", tool(`name:"_do7"`), nil},
		{"lint/name-too-long", tool(`name:"` + long(55) + `"`), "/name", tool(`name:"` + long(54) + `"`), []string{"claude-code"}},
		{"lint/too-many-tools", many(101), "", many(100), []string{"windsurf"}},
		{"lint/description-too-long", tool(`description:"` + long(1025) + `"`), "/description", tool(`description:"` + long(1024) + `"`), nil},
		{"lint/schema-too-large", in(sized(16_385)), "", in(sized(16_384)), []string{"claude-desktop"}},
		{"lint/array-items", param(`"type":"array"`), x, param(`"type":"array","items":{"type":"string"}`), nil},
		{"lint/tuple-items", param(`"type":"array","items":[{"type":"string"}]`), x + "/items", param(`"type":"array","items":{"type":"string"}`), nil},
		{"lint/tuple-prefix", param(`"type":"array","prefixItems":[{"type":"string"}]`), x + "/prefixItems", param(`"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}`), nil},
		{"lint/boolean-property", in(`{"type":"object","properties":{"x":true}}`), x, param(`"type":"boolean"`), nil},
		{"lint/boolean-schema", param(`"type":"object","properties":{"y":true}`), x + "/properties/y", param(`"type":"object","properties":{"y":{"type":"string","description":"d"}},"additionalProperties":false`), nil},
		{"lint/items-union", param(`"type":"array","items":{"type":["object","null"]}`), x + "/items/type", param(`"type":"array","items":{"type":["object"]}`), nil},
		{"lint/type-union", param(`"type":["string","integer"]`), x + "/type", param(`"type":["string","null"]`), nil},
		{"lint/untyped", param(`"title":"t"`), x, param(`"const":"t"`), nil},
		{"lint/union-untyped", param(`"anyOf":[{"type":"string"},{"minimum":1}]`), x + "/anyOf/1", param(`"type":"integer","anyOf":[{"maximum":0},{"minimum":1}]`), nil},
		{"lint/enum-empty-value", param(`"type":["string","null"],"enum":["a",null]`), x + "/enum", param(`"type":["string","null"],"enum":["a","null"]`), nil},
		{"lint/enum-not-strings", param(`"type":"integer","enum":[1,2]`), x + "/enum", param(`"type":"string","enum":["1","2"]`), nil},
		{"lint/ref-siblings", in(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","minLength":3,"description":"d"}},"$defs":{"a":{"type":"string"}}}`), x, in(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","default":"a","description":"d"}},"$defs":{"a":{"type":"string"}}}`), nil},
		{"lint/ref-recursive", in(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`), "/inputSchema/$defs/b/items/$ref", in(`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","description":"d"},"y":{"$ref":"#/$defs/a","description":"d"}},"$defs":{"a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},"b":{"type":"string","description":"d"}}}`), nil},
		{"lint/refs-multiply", in(doubling(17)), "/inputSchema", in(doubling(14)), nil},
		{"lint/too-deep", in(deep(11)), "/inputSchema" + strings.Repeat("/properties/x", 11), in(deep(10)), nil},
		{"lint/format-openai", param(`"type":"string","format":"uri"`), x + "/format", param(`"type":"string","format":"uuid"`), nil},
	}, {
		// modes that are chosen
		{"lint/strict-open", in(obj), "/inputSchema", in(`{"type":"object","properties":{},"additionalProperties":false}`), []string{"openai-strict"}},
		{"lint/strict-optional", in(`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"additionalProperties":false}`), "/inputSchema", in(`{"type":"object","properties":{"a":{"type":"string","description":"d"}},"required":["a"],"additionalProperties":false}`), []string{"openai-strict"}},
		{"lint/strict-keyword", in(`{"type":"object","properties":{"a":{"type":"string","description":"d","not":{"type":"integer"}}},"required":["a"],"additionalProperties":false}`), "/inputSchema/properties/a/not", in(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"description":"d"}},"required":["a"],"additionalProperties":false}`), []string{"openai-strict"}},
		{"lint/strict-size", in(enumOf(1001)), "/inputSchema", in(enumOf(1000)), []string{"openai-strict"}},
		{"lint/gemini-keyword", param(`"type":"integer","exclusiveMinimum":0`), x + "/exclusiveMinimum", param(`"type":"integer","minimum":1`), []string{"gemini-openapi"}},
		{"lint/gemini-format", param(`"type":"string","format":"uuid"`), x + "/format", param(`"type":"string","format":"date-time"`), []string{"gemini-openapi"}},
	}, {
		// prompts, resources, templates
		{"lint/item-duplicate", list("resources", `{"name":"a","uri":"a:b"},{"name":"b","uri":"a:b"}`), "", list("resources", `{"name":"a","uri":"a:b"},{"name":"a","uri":"a:c"}`), nil},
		{"lint/item-description", list("prompts", `{"name":"ask"}`), "", prompt(""), nil},
		{"lint/argument-name", prompt(`,"arguments":[{"description":"d"}]`), "/arguments/0", prompt(`,"arguments":[{"name":"a","description":"d"}]`), nil},
		{"lint/argument-duplicate", prompt(`,"arguments":[{"name":"a","description":"d"},{"name":"a","description":"e"}]`), "/arguments/1", prompt(`,"arguments":[{"name":"a","description":"d"},{"name":"b","description":"e"}]`), nil},
		{"lint/argument-description", prompt(`,"arguments":[{"name":"a"}]`), "/arguments/0", prompt(`,"arguments":[]`), nil},
		{"lint/resource-uri", resource(`,"uri":"a/b"`), "/uri", resource(`,"uri":"a:b"`), nil},
		{"lint/mime-type", resource(`,"uri":"a:b","mimeType":"markdown"`), "/mimeType", resource(`,"uri":"a:b","mimeType":"text/html;profile=mcp-app"`), nil},
		{"lint/resource-size", resource(`,"uri":"a:b","size":-1`), "/size", resource(`,"uri":"a:b","size":0`), nil},
		{"lint/content-annotation", resource(`,"uri":"a:b","annotations":{"priority":2}`), "/annotations/priority", resource(`,"uri":"a:b","annotations":{"priority":1,"audience":["user"],"lastModified":"2025-01-12T15:00:58Z"}`), nil},
		{"lint/template-invalid", template("a:{b"), "/uriTemplate", template("a:{b}"), nil},
		{"lint/template-fixed", template("a:b"), "/uriTemplate", template("a:{+b}"), nil},
	}, {
		// the server
		{"lint/server-name", info(`"a"`, `""`), "/serverInfo/version", info(`"a"`, `"1.0.0"`), nil},
		{"lint/server-version", info(`"a"`, `"latest"`), "/serverInfo/version", info(`"a"`, `"v1.2.3-rc.1+4"`), nil},
		{"lint/instructions-blank", `{"instructions":" \n"}`, "/instructions", `{"instructions":"Read first."}`, nil},
		{"lint/instructions-too-long", `{"instructions":"` + long(2049) + `"}`, "/instructions", `{"instructions":"` + long(2048) + `"}`, nil},
		{"lint/capability-type", `{"capabilities":{"logging":true}}`, "/capabilities/logging", `{"capabilities":{"logging":{}}}`, nil},
		{"lint/capability-type", `{"capabilities":{"logging":{"listChanged":"true"}}}`, "/capabilities/logging/listChanged", `{"capabilities":{"logging":{"listChanged":true}}}`, nil},
		{"lint/capability-type", `{"capabilities":{"logging":{"subscribe":0}}}`, "/capabilities/logging/subscribe", `{"capabilities":{"logging":{"subscribe":false,"other":0}}}`, nil},
		{"lint/capability-without-items", `{"capabilities":{"tools":{}}}`, "/capabilities/tools", `{"capabilities":{"tools":{}},"tools":[` + one() + `]}`, nil},
		{"lint/extension-name", `{"capabilities":{"extensions":{"tasks":{}}}}`, "/capabilities/extensions/tasks", `{"capabilities":{"extensions":{"a.b/tasks":{}}}}`, nil},
	}}
	var out []ruleCase
	for _, theme := range all {
		out = append(out, theme...)
	}
	return out
}

// sized is a schema of n bytes.
func sized(n int) string {
	const head, tail = `{"type":"object","properties":{},"$comment":"`, `"}`
	return head + strings.Repeat("a", n-len(head)-len(tail)) + tail
}

// enumOf is a strict schema with n values in one enum.
func enumOf(n int) string {
	var vs []string
	for i := range n {
		vs = append(vs, fmt.Sprintf(`"v%d"`, i))
	}
	return `{"type":"object","properties":{"a":{"type":"string","description":"d","enum":[` + strings.Join(vs, ",") + `]}},"required":["a"],"additionalProperties":false}`
}
