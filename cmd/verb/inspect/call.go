package inspect

import (
	"context"
	"encoding/json"

	"github.com/mcphud/mcphud/cmd/inspector"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// inspectedLists are the methods that list something, and the capability without which there is nothing to list.
var inspectedLists = map[string]struct {
	kind       offer.Kind
	member     string
	capability string
}{
	"tools/list":               {offer.Tools, "tools", "tools"},
	"resources/list":           {offer.Resources, "resources", "resources"},
	"resources/templates/list": {offer.Templates, "resourceTemplates", "resources"},
	"prompts/list":             {offer.Prompts, "prompts", "prompts"},
	"skills/list":              {offer.Skills, "skills", ""},
}

// call makes the call that the command line wants.
func (p *inspection) call(ctx context.Context) (inspector.Answer, error) {
	if p.r.Method == "tools/call" {
		return p.tool(ctx)
	}
	if l, ok := inspectedLists[p.r.Method]; ok {
		if p.r.Method == "skills/list" && !p.Supports(p.r.Method) {
			return inspector.Answer{}, p.r.NoSkills()
		}
		items, err := p.items(ctx, l.kind, l.capability)
		a := inspector.Answer{Result: inspector.Pairs{{Key: l.member, Value: items}}.JSON()}
		if err == nil && l.kind == offer.Tools && p.r.AppInfo {
			_ = jsonrpc.Elements(items, func(tool []byte) bool { // a list of ours
				a.Apps = append(a.Apps, p.app(ctx, tool))
				return true
			})
		}
		return a, err
	}
	if err := p.r.Needs(); err != nil {
		return inspector.Answer{}, err
	}
	r, err := p.single(ctx)
	return inspector.Answer{Result: r}, err
}

// single makes a call with one answer.
func (p *inspection) single(ctx context.Context) (json.RawMessage, error) {
	var r rpc.Reply
	var err error
	o := session.CallOptions{Meta: p.r.Meta(p.meta, false)}
	switch p.r.Method {
	case "initialize":
		st := p.Status()
		out := inspector.Pairs{{Key: "serverInfo", Value: st.ServerInfo}, {Key: "protocolVersion", Value: jsonrpc.Quote(st.Version)}, {Key: "capabilities", Value: st.Capabilities}}
		if st.Instructions != "" {
			out.Set("instructions", jsonrpc.Quote(st.Instructions))
		}
		return out.JSON(), nil
	case "resources/read":
		r, err = p.ReadResource(ctx, p.r.URI, o)
	case "prompts/get":
		r, err = p.GetPrompt(ctx, p.r.Prompt, p.r.PromptArguments(), o)
	case "logging/setLevel":
		if jsonrpc.Get(p.Status().Capabilities, "logging") == nil {
			return nil, p.r.NoLogging()
		}
		return json.RawMessage("{}"), p.SetLevel(ctx, p.r.LogLevel)
	case "skills/get":
		if !p.Supports(offer.Skills.Method()) {
			return nil, p.r.NoSkills()
		}
		params, _ := jsonrpc.Update(nil, jsonrpc.Set(jsonrpc.Quote(p.r.URI), "uri")) // a constant and a string
		r, err = p.Call(ctx, "skills/get", params, o)
	case skills.DirectoryRead:
		if !p.Supports(skills.DirectoryRead) {
			return nil, p.r.NoDirectories()
		}
		params := inspector.Pairs{{Key: "uri", Value: jsonrpc.Quote(p.r.URI)}}
		if p.r.Cursor != nil {
			params.Set("cursor", jsonrpc.Quote(*p.r.Cursor))
		}
		r, err = p.Call(ctx, skills.DirectoryRead, params.JSON(), o)
	}
	return r.Result, err
}

// items are the entries of a list as sent, all pages of it.
func (p *inspection) items(ctx context.Context, kind offer.Kind, capability string) (json.RawMessage, error) {
	out := []byte{'['}
	if capability != "" && jsonrpc.Get(p.Status().Capabilities, capability) == nil {
		return append(out, ']'), nil
	}
	list, err := p.List(ctx, kind)
	if err != nil {
		return nil, err
	}
	for i, it := range list.Items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, it.Raw...)
	}
	return append(out, ']'), nil
}

func (p *inspection) app(ctx context.Context, tool json.RawMessage) inspector.App {
	return inspector.AppOf(tool, func(uri string) (json.RawMessage, error) {
		r, err := p.ReadResource(ctx, uri, session.CallOptions{Meta: p.r.Meta(p.meta, false)})
		if err != nil {
			return nil, inspectorError(err)
		}
		return r.Result, nil
	})
}

// tool calls a tool, once the list has it.
func (p *inspection) tool(ctx context.Context) (a inspector.Answer, err error) {
	items, err := p.items(ctx, offer.Tools, "tools")
	if err == nil {
		err = p.r.Needs()
	}
	if err != nil {
		return a, err
	}
	var tool json.RawMessage
	_ = jsonrpc.Elements(items, func(t []byte) bool { // a list of ours
		if jsonrpc.GetString(t, "name") == p.r.ToolName {
			tool = t
		}
		return tool == nil
	})
	if tool == nil {
		return a, p.r.NoTool()
	}
	if p.r.AppInfo || p.r.JSON() {
		a.Apps = []inspector.App{p.app(ctx, tool)}
	}
	if p.r.AppInfo {
		return a, nil
	}
	args, err := p.r.Arguments(jsonrpc.Get(tool, "inputSchema"))
	if err != nil {
		return a, err
	}
	o := session.CallOptions{Meta: p.r.Meta(p.meta, true), Task: jsonrpc.GetString(tool, "execution", "taskSupport") == "required"}
	r, err := p.CallTool(ctx, p.r.ToolName, args, o)
	if err != nil {
		return a, err
	}
	a.Result = r.Result
	return a, p.structured(tool, r.Result)
}

// structured checks a result against the schema that its tool declares for it.
func (p *inspection) structured(tool, result json.RawMessage) error {
	declared := jsonrpc.Get(tool, "outputSchema")
	if declared == nil {
		return nil
	}
	content := jsonrpc.Get(result, "structuredContent")
	switch failed := string(jsonrpc.Get(result, "isError")) == "true"; {
	case (content == nil || string(content) == "null") && failed:
		return nil
	case content == nil || string(content) == "null":
		return p.r.NoStructure()
	}
	problems, unchecked := schema.Parse(declared).ValidateJSON(content)
	if unchecked != "" || len(problems) == 0 {
		return nil // a schema that cannot be used forbids nothing
	}
	return p.r.WrongStructure(problems[0].Sentence())
}
