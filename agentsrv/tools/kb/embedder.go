package kb

import (
	"context"
	"path"
	"strings"

	"github.com/mcphud/mcphud/agentsrv/tools/kb/wordvec"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// What makes embeddings, as Results and the tool name it.
const (
	ByWords    = "words"    // the vectors of words that the binary has
	ByEndpoint = "endpoint" // an API with a model for embeddings
)

// Embedder makes embeddings of passages and queries.
type Embedder interface {
	// Embed returns vectors of one length, each as long as 1 or, of a text that says nothing to the embedder, all zeros.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names what makes them: those by different models are never compared.
	Model() string
	// Name is how messages call it.
	Name() string
	// Kind is ByWords or ByEndpoint. What ByWords makes costs nothing, and an error of it stays.
	Kind() string
	// MinCosine is the similarity that any passage has to any query: only what exceeds it is found.
	MinCosine() float32
	// FusionWeights returns how much the rank by embeddings counts of the one that is made of both, 0 to 1, and how evenly the places of both count: the
	// constant of reciprocal rank fusion. coverage is how much of the query the passage answers that is found first by its words, 0 to 1.
	FusionWeights(coverage float64) (share, rank float64)
}

// Endpoint makes embeddings with the model of an API, which stays the caller's to close.
func Endpoint(c *chat.Client) Embedder { return endpoint{c} }

type endpoint struct{ *chat.Client }

func (e endpoint) Model() string    { return e.Client.Model.Name }
func (e endpoint) Name() string     { return e.Client.Name(e.Client.Model.Name) }
func (endpoint) Kind() string       { return ByEndpoint }
func (endpoint) MinCosine() float32 { return 0 }

func (endpoint) FusionWeights(float64) (share, rank float64) { return 0.5, fuseRank }

// WordVectors makes embeddings of the vectors of English words that the binary has.
func WordVectors() Embedder { return wordVectors{wordvec.Builtin} }

type wordVectors struct {
	load func() (*wordvec.Words, error)
}

func (wordVectors) Model() string      { return wordvec.Model }
func (wordVectors) Name() string       { return "the built-in word vectors" }
func (wordVectors) Kind() string       { return ByWords }
func (wordVectors) MinCosine() float32 { return minCosine }

// FusionWeights returns a small share where words alone answer the query, and a large one where the passages have hardly any of them.
func (wordVectors) FusionWeights(coverage float64) (share, rank float64) {
	known := min(max((coverage-lowCoverage)/(highCoverage-lowCoverage), 0), 1)
	return maxShare + known*(minShare-maxShare), wordRank
}

// How much the vectors of words count: measured with questions that the corpus answers in their words, which they must not hide, and with
// such as share no word with what answers them. The first place of a rank counts as much as the second and the third together, or nearly: the
// first passages by words and by vectors are then among the first few of both.
const (
	minShare, maxShare        = 0.4, 0.6
	lowCoverage, highCoverage = 0.15, 0.35
	wordRank                  = 1
)

const (
	// minCosine is the cosine that passages have with any query of a few words.
	minCosine = 0.3
	// titleWeight is how many times a word of the heading counts, where one of the content counts once.
	titleWeight = 5
)

func (w wordVectors) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	known, err := w.load()
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = make([]float32, known.Dims)
		title, content, ok := strings.Cut(t, "\n\n") // as embeddingText has it
		if !ok {
			title, content = "", t
		}
		if file, heading, ok := strings.Cut(title, " › "); ok {
			add(known, out[i], file, 1)
			title = heading
		} else if name := strings.TrimSuffix(title, path.Ext(title)); name != title && !strings.Contains(title, " ") { // of a file without headings
			add(known, out[i], name, 1)
			title = ""
		}
		add(known, out[i], title, titleWeight)
		add(known, out[i], content, 1)
		wordvec.Unit(out[i])
	}
	return out, nil
}

func add(known *wordvec.Words, sum []float32, text string, times float32) {
	words(text, func(w string, _ bool) bool {
		if w = strings.ToLower(w); len(w) <= maxWord && !wordvec.Common(w) {
			known.Add(sum, w, times)
		}
		return true
	})
}
