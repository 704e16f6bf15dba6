package agentlet

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// The prompts.
const (
	AnalyzeDocument = "analyze-document"
	CreateSummary   = "create-summary"
	ExtractEntities = "extract-entities"
)

// choices are what the arguments of the prompts are completed with.
var choices = map[string]map[string][]string{
	AnalyzeDocument: {
		"focus": {"deadlines", "decisions", "everything", "numbers", "obligations", "open questions", "risks", "structure"},
		"depth": {"quick", "thorough"},
	},
	CreateSummary: {
		"length":   {"one sentence", "one paragraph", "one page"},
		"audience": {"customers", "engineers", "managers", "newcomers", "operators"},
	},
	ExtractEntities: {
		"types":  {"carrier", "customer", "incident", "person", "place", "service", "system", "team", "vehicle"},
		"format": {"json", "list", "table"},
	},
}

// Prompts are analyze-document, create-summary and extract-entities.
func (r *Registry) Prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		{
			Prompt: mcp.NewPrompt(AnalyzeDocument, mcp.WithPromptDescription("Works through one document: what it is, what it says, what is missing"),
				mcp.WithArgument("document", mcp.ArgumentDescription("The text, or the URI of a resource that has it"), mcp.RequiredArgument()),
				mcp.WithArgument("focus", mcp.ArgumentDescription("What to look for; everything if left out")),
				mcp.WithArgument("depth", mcp.ArgumentDescription("quick or thorough; thorough if left out"))),
			Handler: analyze,
		},
		{
			Prompt: mcp.NewPrompt(CreateSummary, mcp.WithPromptDescription("Summarises several documents in one text that says where it has everything from"),
				mcp.WithArgument("documents", mcp.ArgumentDescription("The texts, or URIs of resources that have them, one a line"), mcp.RequiredArgument()),
				mcp.WithArgument("length", mcp.ArgumentDescription("One sentence, one paragraph or one page; one paragraph if left out")),
				mcp.WithArgument("audience", mcp.ArgumentDescription("Who will read it; engineers if left out"))),
			Handler: summarize,
		},
		{
			Prompt: mcp.NewPrompt(ExtractEntities, mcp.WithPromptDescription("Lists the things that a text names, checked against the graph of this server"),
				mcp.WithArgument("text", mcp.ArgumentDescription("The text"), mcp.RequiredArgument()),
				mcp.WithArgument("types", mcp.ArgumentDescription("Types to list, with commas between them; all if left out")),
				mcp.WithArgument("format", mcp.ArgumentDescription("json, list or table; json if left out"))),
			Handler: extractEntities,
		},
	}
}

func requireArgument(r mcp.GetPromptRequest, name string) (string, error) {
	if v := r.Params.Arguments[name]; strings.TrimSpace(v) != "" {
		return v, nil
	}
	return "", kit.Invalid(name, kit.Required)
}

func request(description, text string) (*mcp.GetPromptResult, error) {
	return mcp.NewGetPromptResult(description, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
}

func analyze(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	document, err := requireArgument(r, "document")
	if err != nil {
		return nil, err
	}
	steps := `1. Say in one sentence what kind of document it is, who wrote it for whom, and when, as far as it tells.
2. List what it states, each point with the place that it is from.
3. List what it leaves open or contradicts itself in.
4. Close with what a reader should do next, if anything.`
	if r.Params.Arguments["depth"] == "quick" {
		steps = `1. Say in one sentence what the document is.
2. Name the three points that matter most, each with the place that it is from.`
	}
	return request("Analysis of a document", fmt.Sprintf(`Analyse the document below. Look for %s.

%s

State nothing that the document does not say. %s

<document>
%s
</document>`, cmp.Or(r.Params.Arguments["focus"], "everything"), steps, reading("the document"), document))
}

func summarize(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	documents, err := requireArgument(r, "documents")
	if err != nil {
		return nil, err
	}
	return request("Summary of several documents", fmt.Sprintf(`Summarise the documents below in %s for %s.

1. Read all of them before you write.
2. Put together what they agree on, and name the document where they do not.
3. Keep numbers, names and conditions; leave out examples.
4. After each statement put in brackets which document it is from.

%s

<documents>
%s
</documents>`, cmp.Or(r.Params.Arguments["length"], "one paragraph"), cmp.Or(r.Params.Arguments["audience"], "engineers"), reading("a line"), documents))
}

// reading is the same advice for all prompts that take a text or a URI.
func reading(what string) string {
	return "Where " + what + " is nothing but a URI, read that resource first."
}

func extractEntities(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	text, err := requireArgument(r, "text")
	if err != nil {
		return nil, err
	}
	format := map[string]string{
		"list":  "one line each, as NAME (TYPE, ID)",
		"table": "a Markdown table with the columns name, type, id",
	}[r.Params.Arguments["format"]]
	return request("Entities of a text", fmt.Sprintf(`List the entities that the text below names: %s.

1. Take each entity once, in the order of the text, under the name that the text uses.
2. Look each one up with the tool lookup_entity, and add the id that it has there; leave the id empty where it is not found.
3. Answer with %s.

<text>
%s
</text>`, cmp.Or(r.Params.Arguments["types"], "of every type"), cmp.Or(format, `a JSON array of {"name","type","id"}`), text))
}

// maxCompletions is how many values MCP lets a completion have.
const maxCompletions = 100

// CompletePromptArgument offers what an argument of one of the prompts may be; it is mcp-go's provider for prompts.
func (r *Registry) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return offers(choices[prompt][arg.Name], arg.Value, prompt == ExtractEntities && arg.Name == "types"), nil
}

// CompleteResourceArgument offers the agents that the caller sees for the uri of the template; it is mcp-go's provider
// for resource templates.
func (r *Registry) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != Template || arg.Name != "uri" {
		return &mcp.Completion{Values: []string{}}, nil
	}
	return offers(r.names(ctx), arg.Value, false), nil
}

// offers are the values that begin with what was typed, in any case of letters; in a list, with its last member.
func offers(all []string, value string, list bool) *mcp.Completion {
	before, last := "", value
	if i := strings.LastIndexByte(value, ','); i >= 0 && list {
		last = strings.TrimLeft(value[i+1:], " ")
		before = value[:len(value)-len(last)]
	}
	c := &mcp.Completion{Values: []string{}}
	for _, v := range all {
		if !strings.HasPrefix(strings.ToLower(v), strings.ToLower(last)) {
			continue
		}
		c.Total++
		if len(c.Values) < maxCompletions {
			c.Values = append(c.Values, before+v)
		}
	}
	c.HasMore = c.Total > len(c.Values)
	return c
}

// names are the full names of the agents that the caller sees.
func (r *Registry) names(ctx context.Context) []string {
	var all []string
	for _, a := range r.systemAgents() {
		all = append(all, a.FullName)
	}
	mine, err := r.mine(ctx, kit.TenantOf(ctx), kit.Caller(ctx).User)
	if err != nil {
		r.o.Logger.Error("cannot read the agents for a completion", "error", err)
	}
	for _, a := range mine {
		all = append(all, a.FullName)
	}
	return all
}
