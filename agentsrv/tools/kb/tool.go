package kb

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

const (
	toolIn = `{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":1000,"description":"What to look for, in words; typing errors are forgiven"},` +
		`"tenant_id":{"type":"string","pattern":"^[!-~]{1,128}$","description":"Who asks"},` +
		`"knowledge_base":{"type":"string","enum":["general","codebase","documents"],"description":"Only this part; all of it if left out"},` +
		`"mode":{"type":"string","enum":["hybrid","semantic","full-text"],"description":"How to look: by words and by meaning, by meaning alone, or by words alone; hybrid if left out, and full-text where this agent has no embeddings of any kind"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"How many results at most"}},` +
		`"required":["query","tenant_id"]}`
	toolOut = `{"type":"object","properties":{"status":{"type":"string","const":"success"},` +
		`"results":{"type":"array","maxItems":20,"items":{"type":"object","properties":{` +
		`"content":{"type":"string","description":"The lines around the words of the query"},` +
		`"score":{"type":"number","minimum":0,"maximum":1,"description":"The results are sorted by it. full-text: how much of the query the passage answers; semantic: the similarity; hybrid: the share of the best place in both ranks"},` +
		`"found":{"type":"string","enum":["lexical","semantic","both"],"description":"By its words, by its meaning, or by both"},` +
		`"similarity":{"type":"number","description":"Cosine between the embeddings of query and passage, for what was found by meaning"},` +
		`"source":{"type":"string","format":"uri","description":"Resource with the whole passage"},` +
		`"metadata":{"type":"object","properties":{"type":{"type":"string","description":"Of the file: the end of its name, such as md; text if it has none"},"title":{"type":"string"},"path":{"type":"string"},"line":{"type":"integer"},"last_line":{"type":"integer"},"page":{"type":"integer","description":"Of a PDF document, from 1"},"knowledge_base":{"type":"string"}},"required":["type","title","path","line","last_line","knowledge_base"]}},` +
		`"required":["content","score","source","found","metadata"]}},` +
		`"count":{"type":"integer"},` +
		`"mode":{"type":"string","enum":["hybrid","semantic","full-text"],"description":"How it was looked for"},` +
		`"vectors":{"type":"string","enum":["words","endpoint"],"description":"What compared meanings: the built-in vectors of English words, or an endpoint with a model for embeddings; left out for full-text"},` +
		`"fuzzy":{"type":"array","description":"Words of the query that nothing has, and what was looked for in their place","items":{"type":"object","properties":{"word":{"type":"string"},"as":{"type":"array","items":{"type":"string"}}},"required":["word","as"]}},` +
		`"note":{"type":"string","description":"Why meaning counts for nothing, or not for all passages"}},"required":["status","results","count","mode"]}`
)

type answer struct {
	Status  string   `json:"status"`
	Results []result `json:"results"`
	Count   int      `json:"count"`
	Mode    string   `json:"mode"`
	Vectors string   `json:"vectors,omitempty"`
	Fuzzy   []Fuzzy  `json:"fuzzy,omitempty"`
	Note    string   `json:"note,omitempty"`
}

type result struct {
	Content    string   `json:"content"`
	Score      float64  `json:"score"`
	Source     string   `json:"source"`
	Found      string   `json:"found"`
	Similarity float64  `json:"similarity,omitempty"`
	Metadata   metadata `json:"metadata"`
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

type searchArgs struct {
	Query  string  `json:"query"`
	Tenant string  `json:"tenant_id"`
	Base   string  `json:"knowledge_base"`
	Mode   string  `json:"mode"`
	Limit  float64 `json:"limit"` // which may be written as 5.0
}

func (l *Library) tool(ctx context.Context, _ mcp.CallToolRequest, in searchArgs) (*mcp.CallToolResult, error) {
	found, err := l.Search(ctx, in.Tenant, in.Query, SearchOptions{Base: in.Base, Mode: in.Mode, Limit: int(in.Limit)})
	if err != nil {
		return nil, err
	}
	out := answer{Status: "success", Results: []result{}, Count: len(found.Hits), Mode: found.Mode, Vectors: found.Vectors, Fuzzy: found.Fuzzy, Note: found.Note}
	for _, h := range found.Hits {
		out.Results = append(out.Results, result{h.Snippet, h.Score, h.Source, h.Found, h.Similarity, metadata{typeOf(h.Path), h.Title, h.Path, h.Line, h.LastLine, h.Page, h.Base}})
	}
	return kit.JSON(out)
}

// typeOf is the type of a file as its name has it, without the dot.
func typeOf(name string) string {
	return cmp.Or(strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")), "text")
}
