package aggregate

import (
	"context"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
)

// resolve finds the agent that a name in the merged list means, and the agent's own name for it. A name that can mean two is
// an error that names both, and never a guess. In this order: what a list that this client was given said; the list as it is now, where names alone do
// not tell; all readings of the name as AGENT and NAME, of which those go that the agent is known not to have.
func (c *client) resolve(ctx context.Context, kind offer.Kind, name string, n toolset.Naming) (agent, own string, err error) {
	if sole := c.s.sole(); sole != "" {
		return sole, name, nil
	}
	agents := c.agents()
	var fit, others []toolset.ToolRef
	if ref, ok := c.resolveGiven(kind, name, agents); ok {
		fit = append(fit, ref)
	} else if n.Bare() || toolset.Shortened(name) {
		all, _ := c.list(ctx, kind, n)
		for _, e := range all {
			switch ref := (toolset.ToolRef{Server: e.agent, Tool: e.item.Name}); {
			case e.name == name && !slices.Contains(fit, ref):
				fit = append(fit, ref)
			case n.Bare() && e.item.Name == name && !slices.Contains(others, ref):
				others = append(others, ref)
			}
		}
	}
	if len(fit) == 0 {
		fit = append(n.Candidates(name, agents), others...)
	}
	fit = slices.DeleteFunc(fit, func(r toolset.ToolRef) bool { return !c.s.o.Selects(r.Server, r.Tool) })
	if len(fit) > 1 { // one that is left is called without looking: the agent says itself that it does not have it
		fit = slices.DeleteFunc(fit, func(r toolset.ToolRef) bool {
			items, err := c.listOf(ctx, r.Server, kind)
			// An agent whose tools are not known may have it.
			return err == nil && !slices.ContainsFunc(items, func(it offer.Item) bool { return it.Name == r.Tool })
		})
	}
	what, none := "Tool", jsonrpc.KindToolNotFound
	if kind == offer.Prompts {
		what, none = "Prompt", jsonrpc.KindInvalidParams
	}
	form := n.Full("AGENT", "NAME")
	if n.Bare() {
		form = "NAME or " + form
	}
	switch len(fit) {
	case 1:
		return fit[0].Server, fit[0].Tool, nil
	case 0:
		return "", "", jsonrpc.Errorf(none, "%s '%.200s' not found; names are %s, as listed", what, name, form)
	}
	candidates := make([]map[string]string, len(fit))
	readings, forms := make([]string, len(fit)), make([]string, len(fit))
	for i, r := range fit {
		candidates[i] = map[string]string{"agent": r.Server, "name": r.Tool}
		forms[i] = "mcp:" + r.Server + ":" + r.Tool
		readings[i] = "'" + r.Tool + "' of agent '" + r.Server + "'"
	}
	return "", "", jsonrpc.Errorf(jsonrpc.KindInvalidParams, "%s name '%.200s' is ambiguous: %s; call one of %s", what, name, strings.Join(readings, ", or "), strings.Join(forms, ", ")).
		With("field", "name").With("reason", "ambiguous").With("candidates", candidates)
}

// URI is the form of a resource's URI that names its agent too: mcp:AGENT:URI.
func URI(agent, uri string) string { return "mcp:" + agent + ":" + uri }

// maxURI bounds what is matched against templates, and remembered, in bytes.
const maxURI = 8 << 10

// owner finds the agent that a URI belongs to, of those that the caller may call: by its list, else by its templates, else the only one that has
// resources. own is the URI as that agent knows it.
func (c *client) owner(ctx context.Context, uri string) (agent, own string, err error) {
	if sole := c.s.sole(); sole != "" {
		return sole, uri, nil
	}
	agents := c.agents()
	if rest, ok := strings.CutPrefix(uri, "mcp:"); ok {
		if a, own, ok := strings.Cut(rest, ":"); ok && slices.Contains(agents, a) {
			return a, own, nil
		}
	}
	var who []string
	add := func(agent string) {
		if !slices.Contains(who, agent) {
			who = append(who, agent)
		}
	}
	all, _ := c.list(ctx, offer.Resources, toolset.Naming{})
	for _, e := range all {
		if e.name == uri {
			add(e.agent)
		}
	}
	if len(who) == 0 && len(uri) <= maxURI {
		all, _ := c.list(ctx, offer.Templates, toolset.Naming{})
		for _, e := range all {
			if e.name == uri {
				add(e.agent)
			} else if t, err := uritemplate.New(e.name); err == nil && t.Match(uri) != nil { // its matcher takes linear time
				add(e.agent)
			}
		}
	}
	if len(who) == 0 { // servers need not list what they have: the only one that reads resources may have it
		for _, a := range agents {
			if sess, ok := c.m.Server(a); ok && sess.Supports("resources/read") {
				who = append(who, a)
			}
		}
		if len(who) != 1 {
			return "", "", jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "Resource '%.200s' not found; use mcp:AGENT:URI for one that its agent does not list", uri)
		}
	}
	if len(who) > 1 {
		forms := make([]string, len(who))
		for i, a := range who {
			forms[i] = URI(a, uri)
		}
		return "", "", jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Resource '%.200s' is ambiguous: agents %s have it; use one of %s", uri, strings.Join(who, ", "), strings.Join(forms, ", ")).
			With("field", "uri").With("reason", "ambiguous").With("agents", who).With("uris", forms)
	}
	return who[0], uri, nil
}
