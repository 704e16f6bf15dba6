package call

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

func formInfo(id, title, tab string, aliases ...string) tui.Screen {
	return tui.Screen{ID: id, Title: title, Aliases: aliases, Tab: tab, Split: 50, StackUnder: pane.StackUnder, Panes: []tui.PaneSpec{
		{ID: "form", Title: title}, {ID: "result", Title: "Result"},
	}}
}

// NewCall calls a tool.
func NewCall(store *inputs.Store, agreed *consent.Policy, asks pane.Asks, earlier *pane.Calls) *tui.Screen {
	return newFormScreen(store, asks, earlier, formKind{
		info: formInfo("call", "Call", "", "c"), verb: "call", list: "tools", kind: offer.Tools, name: itemName, consent: agreed,
		fields: func(it offer.Item) *schema.Schema { return schema.ParseArguments(it.InputSchema) },
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, args []byte, _ map[string]string, o session.CallOptions) (rpc.Reply, error) {
			return s.CallTool(ctx, it.Name, args, o)
		},
		command: func(d *draft) shell.Invocation {
			return shell.Invocation{Verb: "tools call", Operands: []string{d.item.Name}, Flags: []string{"--args", string(d.form.JSON())}}
		},
	}).screen()
}

// NewPrompt gets a prompt.
func NewPrompt(store *inputs.Store, asks pane.Asks, earlier *pane.Calls) *tui.Screen {
	return newFormScreen(store, asks, earlier, formKind{
		info: formInfo("prompt", "Prompt", "prompts"), verb: "get", list: "prompts", kind: offer.Prompts, name: itemName,
		fields: func(it offer.Item) *schema.Schema {
			args := make([]schema.Argument, len(it.Args))
			for i, a := range it.Args {
				args[i] = schema.Argument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required}
			}
			return schema.FromArguments(args)
		},
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, _ []byte, given map[string]string, o session.CallOptions) (rpc.Reply, error) {
			return s.GetPrompt(ctx, it.Name, given, o)
		},
		ref: func(it offer.Item) []byte { return reference("ref/prompt", "name", it.Name) },
		command: func(d *draft) shell.Invocation {
			operands := []string{d.item.Name}
			for k, val := range shell.Sorted(d.form.Strings()) {
				operands = append(operands, k+"="+val)
			}
			return pane.Invoke("prompts get", operands...)
		},
	}).screen()
}

// NewTemplate fills in a resource template and reads the resource.
func NewTemplate(store *inputs.Store, asks pane.Asks, earlier *pane.Calls) *tui.Screen {
	return newFormScreen(store, asks, earlier, formKind{
		info: formInfo("template", "Template", "resources"), verb: "read", list: "templates", kind: offer.Templates,
		name: func(it offer.Item) string { return it.URI },
		fields: func(it offer.Item) *schema.Schema {
			t, err := offer.ParseTemplate(it.URI)
			if err != nil {
				return schema.FromArguments(nil)
			}
			var args []schema.Argument
			for _, n := range t.Varnames() {
				args = append(args, schema.Argument{Name: n})
			}
			return schema.FromArguments(args)
		},
		sessionCall: func(ctx context.Context, s *session.Session, it offer.Item, _ []byte, given map[string]string, o session.CallOptions) (rpc.Reply, error) {
			uri, err := offer.Expand(it.URI, given)
			if err != nil {
				return rpc.Reply{}, fmt.Errorf("%w; read the URI itself on the resources screen", err)
			}
			return s.ReadResource(ctx, uri, o)
		},
		ref: func(it offer.Item) []byte { return reference("ref/resource", "uri", it.URI) },
		command: func(d *draft) shell.Invocation {
			uri, err := offer.Expand(d.item.URI, d.form.Strings())
			if err != nil {
				return pane.Invoke("resources templates")
			}
			return pane.Invoke("resources read", uri)
		},
	}).screen()
}

// reference is what completion/complete completes for.
func reference(kind, key, value string) []byte {
	b, err := json.Marshal(map[string]string{"type": kind, key: value})
	if err != nil { // strings only: cannot happen
		return nil
	}
	return b
}
