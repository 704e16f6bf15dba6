package agentlet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// extractive is the name of the back end that quotes instead of writing.
const extractive = "extractive"

const (
	quoted       = 4   // passages of an answer
	searched     = 8   // passages that are looked at
	maxQuote     = 600 // characters of a passage
	summarySize  = 5   // sentences of a summary
	maxSentences = 500 // of a text that is summarised
	maxEntities  = 50

	// minScore is the least score of a passage that is quoted: below it a passage shares a word or two with the question, and
	// does not answer it.
	minScore = 0.28
)

type citation struct {
	Source string  `json:"source"`
	Title  string  `json:"title"`
	Score  float64 `json:"score"`
}

type extracted struct {
	Answer     string     `json:"answer"`
	Confidence float64    `json:"confidence"`
	Tags       []string   `json:"tags"`
	Citations  []citation `json:"citations,omitempty"`
	Entities   []Mention  `json:"entities,omitempty"`
}

// extract answers for a system agent without any model: deterministic, and made of quotations only.
func (r *Registry) extract(ctx context.Context, q *question) (*answer, error) {
	var x extracted
	var err error
	switch q.agent.Extract {
	case "entities":
		x, err = r.entities(ctx, q)
	case "summary":
		if s := sentences(q.Prompt); len(s) > 3 {
			x = extracted{Answer: strings.Join(keySentences(s, min(summarySize, (len(s)+1)/2)), " "), Confidence: 0.5, Tags: []string{"quoted from the prompt"}}
			break
		}
		x, err = r.passages(ctx, q, true)
	default:
		x, err = r.passages(ctx, q, false)
	}
	if err != nil {
		return nil, err
	}
	x.Tags = append([]string{extractive}, x.Tags...)
	raw, err := kit.Marshal(x)
	if err != nil {
		return nil, err
	}
	response, err := q.agent.accept(string(raw))
	if err != nil {
		return nil, fmt.Errorf("agents: %s: %w", q.agent.FullName, err)
	}
	return &answer{response, extractive}, nil
}

// passages quotes what the knowledge base has on the prompt, whole or its most telling sentences.
func (r *Registry) passages(ctx context.Context, q *question, summary bool) (extracted, error) {
	if r.o.Search == nil {
		return extracted{}, refuse(extractive, "no model configured, and no knowledge base for %s to quote", q.agent.FullName)
	}
	query := text.Clip(q.Prompt, 1000)
	arguments, err := kit.Marshal(map[string]any{"query": query, "limit": searched})
	if err != nil {
		return extracted{}, err
	}
	ended := q.began("search_knowledge_base", string(arguments))
	hits, err := r.o.Search(ctx, q.tenant, query, searched)
	if err != nil {
		ended("the search failed", true)
		if ctx.Err() != nil {
			return extracted{}, ctx.Err()
		}
		return extracted{}, jsonrpc.Errorf(jsonrpc.KindToolExecution, "ask_agent: cannot search the knowledge base; see the server's log: %w", err)
	}
	ended(inLines(hits), false)
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Score < minScore })
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(btoi(a.Base == q.agent.Prefer), btoi(b.Base == q.agent.Prefer)), -cmp.Compare(a.Score, b.Score))
	})
	hits = hits[:min(len(hits), quoted)]
	x := extracted{Tags: []string{}}
	if len(hits) == 0 {
		x.Answer = "The knowledge base has no passage on this. Nobody else was asked: no model is configured."
		return x, nil
	}
	var b strings.Builder
	b.WriteString("From the knowledge base, quoted as it stands:")
	for i, h := range hits {
		passage := strings.TrimSpace(h.Content)
		if summary {
			passage = strings.Join(keySentences(sentences(passage), 2), " ")
		}
		fmt.Fprintf(&b, "\n\n%s [%d]", text.Clip(passage, maxQuote), i+1)
		x.Citations = append(x.Citations, citation{h.Source, h.Title, math.Round(h.Score*1000) / 1000})
		if h.Base != "" && !slices.Contains(x.Tags, h.Base) {
			x.Tags = append(x.Tags, h.Base)
		}
		x.Confidence = max(x.Confidence, min(1, math.Round(h.Score*1000)/1000))
	}
	b.WriteString("\n")
	for i, h := range hits {
		fmt.Fprintf(&b, "\n[%d] %s <%s>", i+1, h.Title, h.Source)
	}
	x.Answer = b.String()
	return x, nil
}

// inLines is what a search found, in a line for each passage.
func inLines(hits []Hit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d passages", len(hits))
	for _, h := range hits {
		fmt.Fprintf(&b, "\n%.3f %s <%s>", h.Score, h.Title, h.Source)
	}
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// entities lists what the graph knows of the things that the prompt names.
func (r *Registry) entities(ctx context.Context, q *question) (extracted, error) {
	if r.o.Mentions == nil {
		return extracted{}, refuse(extractive, "no model configured, and no entity graph for %s to search", q.agent.FullName)
	}
	found, err := r.o.Mentions(ctx, q.tenant, q.Prompt, maxEntities)
	if err != nil {
		if ctx.Err() != nil {
			return extracted{}, ctx.Err()
		}
		return extracted{}, jsonrpc.Errorf(jsonrpc.KindToolExecution, "ask_agent: cannot read the entity graph; see the server's log: %w", err)
	}
	x := extracted{Tags: []string{}, Entities: found}
	if len(found) == 0 {
		x.Answer = "The text has no name that the graph knows."
		return x, nil
	}
	var names []string
	for _, e := range found {
		names = append(names, fmt.Sprintf("%s (%s, %s)", e.Name, e.Type, e.ID))
		if !slices.Contains(x.Tags, e.Type) {
			x.Tags = append(x.Tags, e.Type)
		}
	}
	x.Answer = "The text names, as the graph has them: " + strings.Join(names, "; ") + "."
	x.Confidence = 1
	return x, nil
}

// sentences of a text, as far as their ends can be told from abbreviations: by a blank and a capital after the full stop.
func sentences(text string) []string {
	var all []string
	var b strings.Builder
	words := strings.Fields(text)
	for i, w := range words {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
		ends := strings.TrimRight(w, `"')]`)
		last := i == len(words)-1
		if last || len(ends) > 3 && strings.ContainsAny(ends[len(ends)-1:], ".!?") && startsUpper(words[i+1]) {
			all = append(all, b.String())
			b.Reset()
		}
		if len(all) == maxSentences {
			break
		}
	}
	return all
}

func startsUpper(w string) bool {
	for _, r := range w {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.IsUpper(r) || unicode.IsDigit(r)
		}
	}
	return true
}

// keySentences are the n sentences whose words the whole text uses most, in the order of the text.
func keySentences(all []string, n int) []string {
	count := map[string]int{}
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	for _, s := range all {
		for _, w := range split(s) {
			if len(w) > 3 {
				count[w]++
			}
		}
	}
	type scored struct {
		at    int
		score float64
	}
	var order []scored
	for i, s := range all {
		w, sum := split(s), 0
		for _, x := range w {
			sum += count[x]
		}
		order = append(order, scored{i, float64(sum) / math.Sqrt(float64(max(1, len(w))))})
	}
	slices.SortStableFunc(order, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	order = order[:min(n, len(order))]
	slices.SortFunc(order, func(a, b scored) int { return cmp.Compare(a.at, b.at) })
	var out []string
	for _, o := range order {
		out = append(out, all[o.at])
	}
	return out
}
