package live

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

func checkRequestSchema(f *frame) string {
	doc := f.c.documentOf(f)
	name := doc.methods[f.Dir][f.Method]
	if name == "" || !f.whole {
		return ""
	}
	return f.validate(doc, name, f.body, "")
}

// checkResultSchema judges a result of an extension only as far as any result: its own members no schema here has.
func checkResultSchema(f *frame) string {
	doc := f.ck.defs.document(f.rev)
	if f.req == nil || doc == nil || !f.whole {
		return ""
	}
	name := doc.methods[opposite(f.Dir)][f.Method]
	switch kind := stringAt(f.env.Result, "resultType"); {
	case name == "":
		return ""
	case kind == "input_required" && doc.defs["InputRequiredResult"] != nil:
		name = "InputRequiredResult"
	case kind != "" && kind != "complete" && doc.revision == revModern:
		name = "Result"
	case f.req.task && doc.defs["CreateTaskResult"] != nil:
		name = "CreateTaskResult"
	default:
		name = doc.result(name)
	}
	return f.validate(doc, name, f.env.Result, "/result")
}

func (f *frame) validate(doc *document, name string, value []byte, at string) string {
	evidence, checked := f.ck.defs.validate(doc, name, value, at)
	if !checked {
		f.ck.Unchecked++
	}
	return evidence
}

func checkErrorObject(f *frame) string {
	if !f.whole {
		return ""
	}
	code, message := jsonrpc.Get(f.env.Error, "code"), jsonrpc.Get(f.env.Error, "message")
	switch {
	case code == nil:
		return "/error/code: missing"
	case code[0] != '-' && code[0]-'0' > 9 || bytes.ContainsAny(code, ".eE"):
		return "/error/code: " + text.Clip(string(code), 40)
	case message == nil:
		return "/error/message: missing"
	case message[0] != '"':
		return "/error/message: " + text.Clip(string(message), 40)
	}
	return ""
}

// errorCode is the number of an error, 0 if it has none.
func (f *frame) errorCode() int {
	n, _ := strconv.Atoi(string(jsonrpc.Get(f.env.Error, "code")))
	return n
}

func checkRemovedCode(f *frame) string {
	if c := f.errorCode(); !f.toServer() && f.rev == revModern && (c == -32002 || c == -32042) {
		return fmt.Sprintf("/error/code: %d", c)
	}
	return ""
}

// checkReservedCode is about the range of the specification, of which -32020 to -32022 are in use (2026-07-28/basic#error-codes).
func checkReservedCode(f *frame) string {
	if c := f.errorCode(); !f.toServer() && f.rev == revModern && c >= -32099 && c <= -32023 && c != -32042 {
		return fmt.Sprintf("/error/code: %d", c)
	}
	return ""
}

// checkLegacyCode leaves -32002 to checkRemovedCode: it has had a meaning.
func checkLegacyCode(f *frame) string {
	if c := f.errorCode(); !f.toServer() && f.rev == revModern && c >= -32019 && c <= -32000 && c != -32002 {
		return fmt.Sprintf("/error/code: %d", c)
	}
	return ""
}

// isError reports whether a result says isError.
func (f *frame) isError() bool { return string(jsonrpc.Get(f.env.Result, "isError")) == "true" }

func checkUnknownAsResult(f *frame) string {
	if f.req == nil || f.Method != "tools/call" || !f.isError() || !f.c.lacksTool(f.req.target) {
		return ""
	}
	return "/result/isError for the tool " + quote(f.req.target) + ", which is not listed"
}

func checkUnknownCode(f *frame) string {
	if f.req == nil || f.Method != "tools/call" || !f.c.lacksTool(f.req.target) || f.errorCode() == -32602 {
		return ""
	}
	return fmt.Sprintf("/error/code: %d for the tool %s, which is not listed", f.errorCode(), quote(f.req.target))
}

// checkArgumentsAsError: up to 2025-06-18/server/tools#error-handling invalid arguments are an error, since 2025-11-25 a failure of the tool.
func checkArgumentsAsError(f *frame) string {
	if f.req == nil || f.Method != "tools/call" || f.errorCode() != -32602 || f.c.server.tools[f.req.target] == nil {
		return ""
	}
	return "/error/code: -32602 for the tool " + quote(f.req.target) + ", which is listed"
}

func checkFailureAsError(f *frame) string {
	if f.req == nil || f.Method != "tools/call" || f.c.server.tools[f.req.target] == nil {
		return ""
	}
	if c := f.errorCode(); c == -32603 || c == -32000 {
		return fmt.Sprintf("/error/code: %d: %s", c, quote(stringAt(f.env.Error, "message")))
	}
	return ""
}

func checkEmptyContents(f *frame) string {
	if f.req != nil && f.Method == "resources/read" && string(bytes.Join(bytes.Fields(jsonrpc.Get(f.env.Result, "contents")), nil)) == "[]" {
		return "/result/contents: []"
	}
	return ""
}

func checkArguments(f *frame) string {
	if !f.toServer() || f.Method != "tools/call" || !f.whole {
		return ""
	}
	t := f.c.server.tools[f.Tool]
	if t == nil {
		return ""
	}
	args := jsonrpc.Get(f.env.Params, "arguments")
	if args == nil {
		args = []byte("{}") // they may be left out
	}
	return f.c.server.argumentsVerdict(t, args)
}

// isFinalResult reports whether a result of a tool is its last one, and not a failure: neither a question nor the name of a task.
func (f *frame) isFinalResult() bool {
	kind := stringAt(f.env.Result, "resultType")
	return f.req != nil && f.Method == "tools/call" && f.whole && !f.isError() && !f.req.task && (kind == "" || kind == "complete")
}

func checkStructured(f *frame) string {
	if !f.isFinalResult() {
		return ""
	}
	t, value := f.c.server.tools[f.req.target], jsonrpc.Get(f.env.Result, "structuredContent")
	if t == nil || len(t.output) == 0 || value == nil {
		return ""
	}
	return f.c.server.resultVerdict(t, value)
}

func checkStructuredMissing(f *frame) string {
	if !f.isFinalResult() {
		return ""
	}
	if t := f.c.server.tools[f.req.target]; t == nil || len(t.output) == 0 || jsonrpc.Get(f.env.Result, "structuredContent") != nil {
		return ""
	}
	return "/result/structuredContent: missing, and the tool " + quote(f.req.target) + " has an outputSchema"
}

// checkErrorFlag finds isError in another spelling, where it is not there in its own.
func checkErrorFlag(f *frame) string {
	if !f.isFinalResult() || jsonrpc.Get(f.env.Result, "isError") != nil {
		return ""
	}
	evidence := ""
	_ = jsonrpc.Members(f.env.Result, func(key string, value []byte) bool { // the schema finds what is not an object
		if strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key)) == "iserror" {
			evidence = "/result/" + text.Clip(key, 40) + ": " + text.Clip(string(value), 40)
		}
		return evidence == ""
	})
	return evidence
}

func checkNoText(f *frame) string {
	if !f.isFinalResult() || jsonrpc.Get(f.env.Result, "structuredContent") == nil {
		return ""
	}
	found := false
	_ = jsonrpc.Elements(jsonrpc.Get(f.env.Result, "content"), func(one []byte) bool { // what else it may be the schema says
		found = stringAt(one, "type") == "text"
		return !found
	})
	if found {
		return ""
	}
	return "/result/content: has no text"
}

func checkBase64(f *frame) string {
	var list, member string
	var kinds []string // that have it, nil for all
	switch f.Method {
	case "tools/call":
		list, member, kinds = "content", "data", []string{"image", "audio"}
	case "resources/read":
		list, member = "contents", "blob"
	default:
		return ""
	}
	evidence, n := "", 0
	_ = jsonrpc.Elements(jsonrpc.Get(f.env.Result, list), func(one []byte) bool { // as above
		if raw := jsonrpc.Get(one, member); raw != nil && raw[0] == '"' && (kinds == nil || slices.Contains(kinds, stringAt(one, "type"))) {
			// Where what looked like a secret was taken out, nobody knows.
			if _, err := base64.StdEncoding.DecodeString(unquote(raw)); err != nil && !mask.Unknown(unquote(raw)) {
				evidence = fmt.Sprintf("/result/%s/%d/%s: %v", list, n, member, err)
			}
		}
		n++
		return evidence == ""
	})
	return evidence
}

// eachTool calls check with each tool of an answer to tools/list and where it is, until check returns evidence.
func (f *frame) eachTool(check func(at string, one []byte) string) (evidence string) {
	if f.req == nil || f.Method != "tools/list" {
		return ""
	}
	n := 0
	_ = jsonrpc.Elements(jsonrpc.Get(f.env.Result, "tools"), func(one []byte) bool { // as above
		evidence = check(fmt.Sprintf("/result/tools/%d", n), one)
		n++
		return evidence == ""
	})
	return evidence
}

// checkToolName: each of the characters that may be in a name is one byte (2025-11-25/server/tools#tool-names).
func checkToolName(f *frame) string {
	return f.eachTool(func(at string, one []byte) string {
		raw := jsonrpc.Get(one, "name")
		name, ok := jsonrpc.String(raw)
		bad := func(r rune) bool {
			return r > 'z' || !(r >= 'a' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r))
		}
		switch {
		case !ok:
			return ""
		case strings.IndexFunc(name, bad) >= 0:
			return at + "/name: " + quote(name)
		case name == "" || len(name) > 128:
			return fmt.Sprintf("%s/name: %d characters", at, len(name))
		}
		return ""
	})
}

// checkToolTwice looks at one page of the list.
func checkToolTwice(f *frame) string {
	seen := map[string]bool{}
	return f.eachTool(func(at string, one []byte) string {
		name := stringAt(one, "name")
		if name != "" && seen[name] {
			return at + "/name: " + quote(name)
		}
		seen[name] = true
		return ""
	})
}

func checkHeaderMarks(f *frame) string {
	if !bytes.Contains(f.body, []byte("x-mcp-header")) {
		return ""
	}
	return f.eachTool(func(at string, one []byte) string {
		input := jsonrpc.Get(one, "inputSchema")
		if !bytes.Contains(input, []byte("x-mcp-header")) {
			return ""
		}
		if err := mcp.ValidateParamHeaderAnnotations(&mcp.Tool{Name: "tool", RawInputSchema: input}); err != nil {
			return at + "/inputSchema: " + text.Clip(err.Error(), 120)
		}
		return ""
	})
}

// secretFields returns as evidence the first field of a form that asks for a secret, "" for none.
func secretFields(requested []byte) (evidence string) {
	_ = jsonrpc.Members(jsonrpc.Get(requested, "properties"), func(key string, field []byte) bool { // as above
		if mask.Secret(key) || stringAt(field, "format") == "password" {
			evidence = "/requestedSchema/properties/" + text.Clip(key, 60)
		}
		return evidence == ""
	})
	return evidence
}

// checkSecret is for requests of servers; the modern era asks in results, see checkRoundsSecret.
func checkSecret(f *frame) string {
	if f.toServer() {
		return ""
	}
	if f.Method == "elicitation/create" && f.rev != revModern {
		if s := secretFields(jsonrpc.Get(f.env.Params, "requestedSchema")); s != "" {
			return "/params" + s
		}
	}
	return ""
}
