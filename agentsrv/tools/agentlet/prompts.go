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
		kit.Prompt(AnalyzeDocument, "Works through one document: what it is, what it says, what is missing", analyze,
			kit.Needed("document", "The text, or the URI of a resource that has it"),
			kit.Argument("focus", "What to look for; everything if left out"),
			kit.Argument("depth", "quick or thorough; thorough if left out")),
		kit.Prompt(CreateSummary, "Summarises several documents in one text that says where it has everything from", summarize,
			kit.Needed("documents", "The texts, or URIs of resources that have them, one a line"),
			kit.Argument("length", "One sentence, one paragraph or one page; one paragraph if left out"),
			kit.Argument("audience", "Who will read it; engineers if left out")),
		kit.Prompt(ExtractEntities, "Lists the things that a text names, checked against the graph of this server", extractEntities,
			kit.Needed("text", "The text"),
			kit.Argument("types", "Types to list, with commas between them; all if left out"),
			kit.Argument("format", "json, list or table; json if left out")),
	}
}

func analyze(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	steps := `1. Say in one sentence what kind of document it is, who wrote it for whom, and when, as far as it tells.
2. List what it states, each point with the place that it is from.
3. List what it leaves open or contradicts itself in.
4. Close with what a reader should do next, if anything.`
	if r.Params.Arguments["depth"] == "quick" {
		steps = `1. Say in one sentence what the document is.
2. Name the three points that matter most, each with the place that it is from.`
	}
	return kit.Says("Analysis of a document", mcp.NewTextContent(fmt.Sprintf(`Analyse the document below. Look for %s.

%s

State nothing that the document does not say. %s

<document>
%s
</document>`, cmp.Or(r.Params.Arguments["focus"], "everything"), steps, readURIAdvice("the document"), r.Params.Arguments["document"])))
}

func summarize(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return kit.Says("Summary of several documents", mcp.NewTextContent(fmt.Sprintf(`Summarise the documents below in %s for %s.

1. Read all of them before you write.
2. Put together what they agree on, and name the document where they do not.
3. Keep numbers, names and conditions; leave out examples.
4. After each statement put in brackets which document it is from.

%s

<documents>
%s
</documents>`, cmp.Or(r.Params.Arguments["length"], "one paragraph"), cmp.Or(r.Params.Arguments["audience"], "engineers"), readURIAdvice("a line"), r.Params.Arguments["documents"])))
}

// readURIAdvice is the same advice for all prompts that take a text or a URI.
func readURIAdvice(what string) string {
	return "Where " + what + " is nothing but a URI, read that resource first."
}

func extractEntities(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	format := map[string]string{
		"list":  "one line each, as NAME (TYPE, ID)",
		"table": "a Markdown table with the columns name, type, id",
	}[r.Params.Arguments["format"]]
	return kit.Says("Entities of a text", mcp.NewTextContent(fmt.Sprintf(`List the entities that the text below names: %s.

1. Take each entity once, in the order of the text, under the name that the text uses.
2. Look each one up with the tool lookup_entity, and add the id that it has there; leave the id empty where it is not found.
3. Answer with %s.

<text>
%s
</text>`, cmp.Or(r.Params.Arguments["types"], "of every type"), cmp.Or(format, `a JSON array of {"name","type","id"}`), r.Params.Arguments["text"])))
}

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
	return kit.Complete(all, before, last)
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
