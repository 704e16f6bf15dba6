package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	// MaxTexts is how many texts one request may have: what the least generous servers take.
	MaxTexts = 32
	// MaxDims is how many numbers an embedding may have.
	MaxDims = 8192

	maxEmbeddings = 16 << 20 // bytes of an answer
)

// Embed returns the embeddings of at most MaxTexts texts, in their order: vectors of one length, as long as 1. Anything else in the
// answer is an error.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	res, body, err := c.post(ctx, "/embeddings", struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{c.Model.Name, texts}, maxEmbeddings)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("broke off: %s", redact(err))
	}
	if body.N <= 0 {
		return nil, fmt.Errorf("answered with more than %s", text.Bytes(maxEmbeddings))
	}
	var out struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("did not answer with embeddings: %s", text.Clip(err.Error(), 200))
	}
	if len(out.Data) != len(texts) {
		return nil, fmt.Errorf("answered with %d embeddings for %d texts", len(out.Data), len(texts))
	}
	vectors := make([][]float32, len(texts))
	for i, d := range out.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= len(vectors) || vectors[i] != nil {
			return nil, fmt.Errorf("answered with an embedding of text %d, which is not asked for, or twice", i)
		}
		if err := unit(d.Embedding); err != nil {
			return nil, err
		}
		if len(d.Embedding) != len(out.Data[0].Embedding) {
			return nil, fmt.Errorf("answered with embeddings of %d and of %d numbers", len(out.Data[0].Embedding), len(d.Embedding))
		}
		vectors[i] = d.Embedding
	}
	return vectors, nil
}

// unit makes a vector as long as 1.
func unit(v []float32) error {
	if len(v) == 0 || len(v) > MaxDims {
		return fmt.Errorf("answered with an embedding of %d numbers; 1 to %d are", len(v), MaxDims)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return errors.New("answered with an embedding that has no direction")
	}
	by := 1 / math.Sqrt(sum)
	for i := range v {
		v[i] = float32(float64(v[i]) * by)
	}
	return nil
}
