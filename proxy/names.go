package proxy

import (
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/client/toolset"
)

// mergedNaming is how the endpoint of all agents names tools and prompts.
func (r *Router) mergedNaming() *routes.Merged { return &r.Routes().Merged }

// toolNames are the names that the endpoint of all agents has for tools, for a client without limits of its own; "" for those
// that it does not have.
func (r *Router) toolNames(tools []toolset.ToolRef) []string {
	t := r.Routes()
	n, _ := r.mergedNaming().For("")
	var served []toolset.ToolRef
	names := map[toolset.ToolRef]string{} // an agent may have one twice
	for _, ref := range tools {
		if _, again := names[ref]; !again && t.Selects(ref.Server, ref.Tool) {
			names[ref], served = "", append(served, ref)
		}
	}
	for i, name := range n.Names(served, t.Names()) {
		names[served[i]] = name
	}
	out := make([]string, len(tools))
	for i, ref := range tools {
		out[i] = names[ref]
	}
	return out
}
