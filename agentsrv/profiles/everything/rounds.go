package everything

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const (
	nameForm  = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	colorForm = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
)

// roundTools take several rounds (SEP-2322): what they ask comes back as inputResponses of the same call, and what they
// have to remember as requestState.
func (f *Features) roundTools() []server.ServerTool {
	const prefix = "test_input_required_result_"
	return []server.ServerTool{
		tool(prefix+"elicitation", "Round trip: elicitation", "Asks for the user's name, then greets.", form("user_name", "What is your name?", nameForm, greeting).put),
		tool(prefix+"sampling", "Round trip: sampling", "Asks the client's model a question, then tells the answer.", completion("capital_question", "What is the capital of France?", 100, "").put),
		tool(prefix+"list_roots", "Round trip: roots", "Asks for the client's roots, then lists them.", clientRoots.put),
		tool(prefix+"request_state", "Round trip: state", "Asks for a confirmation and expects its state back with it.", f.confirm),
		tool(prefix+"tampered_state", "Round trip: changed state", "The same; a state that was changed on the way is refused.", f.confirm),
		tool(prefix+"multiple_inputs", "Round trip: three at once", "Asks for a form, a completion and roots in one round.", f.three),
		tool(prefix+"multi_round", "Round trip: two rounds", "Asks for a name, then for a colour, then tells both.", f.twoRounds),
		tool(prefix+"capabilities", "Round trip: what the client can", "Asks only for what the client declares that it can answer.", askAnything),
	}
}

func greeting(a *mcp.ElicitationResult) string {
	if a.Action != mcp.ElicitationResponseActionAccept {
		return "Hello, whoever you are!"
	}
	return "Hello, " + field(a, "name") + "!"
}

// clientRoots asks for the roots of the client.
var clientRoots = question{roots, func(b *server.InputRequestBuilder) { b.Roots("client_roots") }, func(in mcp.InputResponses) (string, bool) {
	a := server.RootsResponse(in, "client_roots")
	if a == nil {
		return "", false
	}
	return "Client roots: " + rootList(a), true
}}

func rootList(a *mcp.ListRootsResult) string {
	if len(a.Roots) == 0 {
		return "none"
	}
	var uris []string
	for _, root := range a.Roots {
		uris = append(uris, root.URI)
	}
	return strings.Join(uris, ", ")
}

func (f *Features) confirm(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.RequestState != "" {
		if _, err := f.seal.open(ctx, r.Params.Name, r.Params.RequestState); err != nil {
			return nil, err
		}
		if a := answer(r.Params.InputResponses, "confirm", confirmForm); a != nil {
			return text("state-ok: action=" + string(a.Action))
		}
	}
	if bad, err := require(ctx, elicitation); bad != nil || err != nil {
		return bad, err
	}
	state, err := f.seal.pack(ctx, r.Params.Name, 1, nil)
	if err != nil {
		return nil, err
	}
	return server.NewInputRequestBuilder(state).Elicit("confirm", formParams("Please confirm", confirmForm)).ToolResult(), nil
}

func (f *Features) three(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.RequestState != "" {
		if _, err := f.seal.open(ctx, r.Params.Name, r.Params.RequestState); err != nil {
			return nil, err
		}
		in := r.Params.InputResponses
		name, sampled, list := answer(in, "user_name", nameForm), server.SamplingResponse(in, "greeting"), server.RootsResponse(in, "client_roots")
		if name != nil && sampled != nil && list != nil {
			return text(fmt.Sprintf("name=%s, greeting=%s, roots=%s", field(name, "name"), completionText(sampled), rootList(list)))
		}
	}
	if bad, err := require(ctx, elicitation, sampling, roots); bad != nil || err != nil {
		return bad, err
	}
	state, err := f.seal.pack(ctx, r.Params.Name, 1, nil)
	if err != nil {
		return nil, err
	}
	return server.NewInputRequestBuilder(state).
		Elicit("user_name", formParams("What is your name?", nameForm)).
		Sample("greeting", prompt("Generate a greeting", 50)).
		Roots("client_roots").ToolResult(), nil
}

func (f *Features) twoRounds(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if bad, err := require(ctx, elicitation); bad != nil || err != nil {
		return bad, err
	}
	now := round{Step: 1}
	if r.Params.RequestState != "" {
		var err error
		if now, err = f.seal.open(ctx, r.Params.Name, r.Params.RequestState); err != nil {
			return nil, err
		}
	}
	in := r.Params.InputResponses
	switch now.Step {
	case 1:
		a := answer(in, "step1", nameForm)
		if a == nil {
			return f.ask(ctx, r, 1, nil, "step1", formParams("Step 1: What is your name?", nameForm))
		}
		return f.ask(ctx, r, 2, map[string]string{"name": field(a, "name")}, "step2", formParams("Step 2: What is your favorite color?", colorForm))
	case 2:
		a := answer(in, "step2", colorForm)
		if a == nil {
			return f.ask(ctx, r, 2, now.Known, "step2", formParams("Step 2: What is your favorite color?", colorForm))
		}
		return text(fmt.Sprintf("name=%s, color=%s", now.Known["name"], field(a, "color")))
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: requestState has the unknown step %d; call %s again without it", now.Step, r.Params.Name)
}

func (f *Features) ask(ctx context.Context, r mcp.CallToolRequest, step int, known map[string]string, key string, p mcp.ElicitationParams) (*mcp.CallToolResult, error) {
	state, err := f.seal.pack(ctx, r.Params.Name, step, known)
	if err != nil {
		return nil, err
	}
	return server.NewInputRequestBuilder(state).Elicit(key, p).ToolResult(), nil
}

// askAnything asks for one thing of each kind that the client can answer.
func askAnything(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	b, missing := server.NewInputRequestBuilder(""), 0
	want := func(c capability, answered bool, ask func()) {
		if hasCapability(ctx, c) && !answered {
			missing++
			ask()
		}
	}
	in := r.Params.InputResponses
	want(elicitation, answer(in, "user_name", nameForm) != nil, func() { b.Elicit("user_name", formParams("What is your name?", nameForm)) })
	want(sampling, server.SamplingResponse(in, "greeting") != nil, func() { b.Sample("greeting", prompt("Generate a greeting", 50)) })
	want(roots, server.RootsResponse(in, "client_roots") != nil, func() { b.Roots("client_roots") })
	if missing > 0 {
		return b.ToolResult(), nil
	}
	return text(fmt.Sprintf("asked for everything that the client declares; it answered %d of it", len(in)))
}
