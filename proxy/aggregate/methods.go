package aggregate

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
)

// dispatch answers a request other than initialize: the result, without what makes a frame of it, or an error for [ingress.Refuse]. What it does not know
// no agent is asked: whose it would be nobody could say.
func (x *exchange) dispatch(ctx context.Context) ([]byte, error) {
	method := mcp.MCPMethod(x.env.Method)
	if result, handled, err := x.resume(ctx); handled {
		return result, err
	}
	if x.s.o.Sole != nil && method == mcp.MethodServerDiscover {
		return x.discoverSole(ctx)
	}
	switch method {
	case mcp.MethodToolsList:
		return x.lists(ctx, offer.Tools)
	case mcp.MethodPromptsList:
		return x.lists(ctx, offer.Prompts)
	case mcp.MethodResourcesList:
		return x.lists(ctx, offer.Resources)
	case mcp.MethodResourcesTemplatesList:
		return x.lists(ctx, offer.Templates)
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		kind := offer.Tools
		if method == mcp.MethodPromptsGet {
			kind = offer.Prompts
		}
		name, _ := jsonrpc.String(x.params.Name)
		agent, own, err := x.c.resolve(ctx, kind, name, x.view().Naming)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "name")
	case mcp.MethodResourcesRead:
		uri, _ := jsonrpc.String(x.params.URI)
		agent, own, err := x.c.owner(ctx, uri)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "uri")
	case mcp.MethodCompletionComplete:
		return x.complete(ctx)
	case mcp.MethodTasksGet, mcp.MethodTasksCancel:
		return x.tasks(ctx)
	}
	if x.modern {
		switch method {
		case mcp.MethodServerDiscover:
			return x.discover(ctx), nil
		case mcp.MethodSubscriptionsListen:
			return x.subscribe(ctx)
		case methodTasksUpdate:
			return x.tasks(ctx)
		}
	} else if method == mcp.MethodTasksList {
		return x.taskList(ctx)
	} else if method == mcp.MethodTasksResult {
		return x.tasks(ctx)
	} else if x.c.id != "" || method == mcp.MethodPing { // levels and subscriptions are a session's
		switch method {
		case mcp.MethodPing: // asks whether we are there: health asks the agents
			return []byte("{}"), nil
		case mcp.MethodSetLogLevel:
			return x.setLevel(ctx)
		case mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe:
			uri, _ := jsonrpc.String(x.params.URI)
			if method == mcp.MethodResourcesUnsubscribe {
				return []byte("{}"), x.c.unsubscribe(ctx, uri)
			}
			return []byte("{}"), x.c.subscribe(ctx, uri)
		}
	}
	if agent := x.s.sole(); agent != "" && method != mcp.MethodInitialize {
		return x.call(ctx, agent, "") // what nobody here knows the server may
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method '%.100s' not found", x.env.Method)
}

// complete passes completion/complete on to the agent that the prompt or the resource belongs to.
func (x *exchange) complete(ctx context.Context) ([]byte, error) {
	ref := jsonrpc.Get(x.env.Params, "ref") // its type is for the agent: what it names says whose it is
	if name, ok := jsonrpc.String(jsonrpc.Get(ref, "name")); ok {
		agent, own, err := x.c.resolve(ctx, offer.Prompts, name, x.view().Naming)
		if err != nil {
			return nil, err
		}
		return x.call(ctx, agent, own, "ref", "name")
	}
	uri, ok := jsonrpc.String(jsonrpc.Get(ref, "uri"))
	if !ok {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: ref names neither a prompt nor a resource").With("field", "ref")
	}
	agent, own, err := x.c.owner(ctx, uri)
	if err != nil {
		return nil, err
	}
	return x.call(ctx, agent, own, "ref", "uri")
}
