package everything

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// toggles remembers which of the items that come and go are there.
type toggles struct {
	mu      sync.Mutex
	there   map[string]bool
	updates atomic.Int64 // of the watched resource
}

// flip adds an item that is not there and removes one that is, and says which it did. add and remove run under the lock,
// so that two calls at once leave the server as the later of them says.
func (t *toggles) flip(name string, add, remove func()) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.there == nil {
		t.there = map[string]bool{}
	}
	if t.there[name] = !t.there[name]; t.there[name] {
		add()
		return "added " + name
	}
	remove()
	return "removed " + name
}

func (f *Features) changeTools() []server.ServerTool {
	change := func(name, title, description string, do func() string) server.ServerTool {
		return kit.Tool(name, title, description, kit.Additive, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(do())
		}, none, "")
	}
	return []server.ServerTool{
		change("test_trigger_tool_change", "Change the tools", "Adds the tool test_dynamic_tool, or removes it; clients hear that the list changed.", f.flipTool),
		change("test_trigger_prompt_change", "Change the prompts", "Adds the prompt test_dynamic_prompt, or removes it; clients hear that the list changed.", f.flipPrompt),
		change("test_trigger_resource_change", "Change the resources", "Adds the resource test://dynamic, or removes it; clients hear that the list changed.", f.flipResource),
		change("test_trigger_resource_update", "Change a resource", "Changes the text of "+watched+"; subscribers hear of it.", func() string {
			n := f.dynamic.updates.Add(1)
			f.options.Updated(watched)
			return fmt.Sprintf("%s has changed %d times", watched, n)
		}),
	}
}

func (f *Features) flipTool() string {
	const name = "test_dynamic_tool"
	return f.dynamic.flip("the tool "+name, func() {
		f.options.Registry.AddTools(tool(name, "A tool that comes and goes", "Is there until test_trigger_tool_change is called again.",
			answerWith(mcp.NewTextContent("still here"))))
	}, func() { f.options.Registry.DeleteTools(name) })
}

func (f *Features) flipPrompt() string {
	const name = "test_dynamic_prompt"
	return f.dynamic.flip("the prompt "+name, func() {
		f.options.Registry.AddPrompts(kit.Prompt(name, "Is there until test_trigger_prompt_change is called again", says("A prompt that comes and goes", mcp.NewTextContent("Is this prompt still here?"))))
	}, func() { f.options.Registry.DeletePrompts(name) })
}

func (f *Features) flipResource() string {
	const uri = "test://dynamic"
	return f.dynamic.flip("the resource "+uri, func() {
		f.options.Registry.AddResources(textResource(uri, "dynamic", "Is there until test_trigger_resource_change is called again", func() string { return "still here" }))
	}, func() { f.options.Registry.DeleteResources(uri) })
}
