package offer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Item is one entry of a list: the object as sent, and what was understood of it. Slices are parts of Raw, which is a part of its page: whoever keeps
// an item for long keeps that. Strings are the server's, of any length and with anything in them; "" is also what is absent or not a string.
type Item struct {
	Raw          json.RawMessage
	Name         string // not unique in every list, see [Kind.Key]
	Title        string
	Description  string
	URI          string // uri of a resource or skill, uriTemplate of a template
	MIME         string
	InputSchema  json.RawMessage // nil if absent
	OutputSchema json.RawMessage // nil if absent
	Annotations  json.RawMessage // nil if absent
	Args         []PromptArg     // of a prompt
	App          string          // of a tool: URI of the page that shows it as an app (MCP Apps), "" for none
	Flaw         error           // what is wrong with it, nil if nothing is; the rest holds what could be read
	Barred       error           // of a tool: why it is never called over the connection that listed it, nil if it may be; Flaw too, where it has no other
}

// PromptArg is one argument of a prompt.
type PromptArg struct {
	Name, Title, Description string
	Required                 bool
}

// readItem reads the value at w.
func readItem(w *jsonrpc.Walker, kind Kind) Item {
	if kind == Skills {
		s, flaw := ParseSkill(w.Raw())
		return Item{Raw: s.Raw, Name: s.Name, Description: s.Description, URI: s.URI, Flaw: flaw}
	}
	var it Item
	var flaws []string
	flaw := func(format string, args ...any) { flaws = append(flaws, fmt.Sprintf(format, args...)) }
	str := func(key string, to *string) {
		if w.Peek() == 'n' {
			w.Raw()
			return // null counts as absent
		}
		s, ok := w.Str()
		if !ok {
			flaw("%s is not a string", key)
		}
		*to = s
	}
	raw, ok := w.Object(func(key string) {
		switch key {
		case "name":
			str(key, &it.Name)
		case "title":
			str(key, &it.Title)
		case "description":
			str(key, &it.Description)
		case "uri":
			if kind == Resources {
				str(key, &it.URI)
			}
		case "uriTemplate":
			if kind == Templates {
				str(key, &it.URI)
			}
		case "mimeType":
			str(key, &it.MIME)
		case "inputSchema":
			it.InputSchema = w.Raw()
		case "outputSchema":
			it.OutputSchema = w.Raw()
		case "annotations":
			it.Annotations = w.Raw()
		case "_meta":
			if meta := w.Raw(); kind == Tools {
				it.App = appURI(meta)
			}
		case "arguments":
			if kind == Prompts && w.Peek() != 'n' {
				if _, ok := w.Array(func() { it.Args = append(it.Args, readArg(w, flaw)) }); !ok {
					flaw("arguments is not an array")
				}
			}
		}
	})
	it.Raw = raw
	switch {
	case !ok:
		it.Name = text.Clip(string(raw), 60)
		flaws = []string{"the entry is not an object"}
	case it.Name == "":
		flaw("it has no name")
	}
	if ok {
		switch kind {
		case Tools:
			if len(it.InputSchema) == 0 || it.InputSchema[0] != '{' {
				flaw("inputSchema is not an object")
			}
		case Resources:
			if it.URI == "" {
				flaw("it has no uri")
			}
		case Templates:
			if it.URI == "" {
				flaw("it has no uriTemplate")
			}
		}
	}
	if flaws != nil {
		it.Flaw = errors.New(strings.Join(flaws, ", "))
	}
	return it
}

// readArg reads one argument of a prompt; members of a wrong type are as if they were not there.
func readArg(w *jsonrpc.Walker, flaw func(string, ...any)) PromptArg {
	var a PromptArg
	_, ok := w.Object(func(key string) {
		switch key {
		case "name":
			a.Name, _ = w.Str()
		case "title":
			a.Title, _ = w.Str()
		case "description":
			a.Description, _ = w.Str()
		case "required":
			a.Required = string(w.Raw()) == "true"
		}
	})
	if !ok || a.Name == "" {
		flaw("an argument has no name")
	}
	return a
}

// CheckHeaders says what is wrong with a tool's x-mcp-header annotations; such a tool must not be called over HTTP in the
// modern era: https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
func CheckHeaders(it Item) error {
	if !strings.Contains(string(it.InputSchema), "x-mcp-header") {
		return nil
	}
	if err := mcp.ValidateParamHeaderAnnotations(&mcp.Tool{Name: it.Name, RawInputSchema: it.InputSchema}); err != nil {
		return fmt.Errorf("never called over HTTP: %s", text.Clip(err.Error(), 200))
	}
	return nil
}
