package kb

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

const (
	toolIn = `{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":1000,"description":"What to look for, in words; typing errors are forgiven"},` +
		`"tenant_id":{"type":"string","minLength":1,"description":"Who asks"},` +
		`"knowledge_base":{"type":"string","enum":["general","codebase","documents"],"description":"Only this part; all of it if left out"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"How many results at most"}},` +
		`"required":["query","tenant_id"]}`
	toolOut = `{"type":"object","properties":{"status":{"type":"string","const":"success"},` +
		`"results":{"type":"array","maxItems":20,"items":{"type":"object","properties":{` +
		`"content":{"type":"string","description":"The lines around the words of the query"},` +
		`"score":{"type":"number","minimum":0,"maximum":1,"description":"How much of the query the passage answers; the results are sorted by it"},` +
		`"source":{"type":"string","format":"uri","description":"Resource with the whole passage"},` +
		`"metadata":{"type":"object","properties":{"type":{"type":"string","description":"Of the file: the end of its name, such as md; text if it has none"},"title":{"type":"string"},"path":{"type":"string"},"line":{"type":"integer"},"last_line":{"type":"integer"},"page":{"type":"integer","description":"Of a PDF document, from 1"},"knowledge_base":{"type":"string"}},"required":["type","title","path","line","last_line","knowledge_base"]}},` +
		`"required":["content","score","source","metadata"]}},` +
		`"count":{"type":"integer"}},"required":["status","results","count"]}`
)

type answer struct {
	Status  string   `json:"status"`
	Results []result `json:"results"`
	Count   int      `json:"count"`
}

type result struct {
	Content  string   `json:"content"`
	Score    float64  `json:"score"`
	Source   string   `json:"source"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
	LastLine int    `json:"last_line"`
	Page     int    `json:"page,omitempty"`
	Base     string `json:"knowledge_base"`
}

func (l *Library) tool(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct {
		Query    *string  `json:"query"`
		TenantID *string  `json:"tenant_id"`
		Base     *string  `json:"knowledge_base"`
		Limit    *float64 `json:"limit"`
	}
	if bad := kit.Arguments(r, &in); bad != nil {
		return bad, nil
	}
	o := SearchOptions{Limit: DefaultLimit}
	switch {
	case in.Query == nil:
		return nil, kit.Invalid("query", kit.Required)
	case in.TenantID == nil || *in.TenantID == "":
		return nil, kit.Invalid("tenant_id", kit.Required)
	case *in.Query == "" || utf8.RuneCountInString(*in.Query) > MaxQuery:
		return nil, kit.Invalid("query", fmt.Sprintf("must have 1 to 1,000 characters, and has %d", utf8.RuneCountInString(*in.Query)))
	}
	if in.Limit != nil {
		if l := *in.Limit; l != math.Trunc(l) || l < 1 || l > MaxLimit {
			return nil, kit.Invalid("limit", fmt.Sprintf("must be a whole number from 1 to 20, and is %v", l))
		}
		o.Limit = int(*in.Limit)
	}
	if in.Base != nil {
		if o.Base = *in.Base; o.Base != General && o.Base != Codebase && o.Base != Documents {
			return nil, kit.Invalid("knowledge_base", fmt.Sprintf("must be general, codebase or documents, and is %.100q", o.Base))
		}
	}
	hits, err := l.Search(ctx, *in.TenantID, *in.Query, o)
	if err != nil {
		return nil, err
	}
	out := answer{Status: "success", Results: []result{}, Count: len(hits)}
	for _, h := range hits {
		out.Results = append(out.Results, result{h.Snippet, h.Score, h.Source, metadata{typeOf(h.Path), h.Title, h.Path, h.Line, h.LastLine, h.Page, h.Base}})
	}
	return kit.JSON(out)
}

// typeOf is the type of a file as its name has it, without the dot.
func typeOf(name string) string {
	return cmp.Or(strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")), "text")
}
