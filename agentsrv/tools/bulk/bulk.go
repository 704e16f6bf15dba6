// Package bulk is the agent's source of large results: any number of bytes that follow from a seed, so that they are
// made when they are read and never kept.
package bulk

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// Limits, in bytes.
const (
	MaxBytes = 50 << 20 // that one call makes
	Inline   = 64 << 10 // up to here they come in the result, above it as a link
	MaxPage  = 1 << 20  // of one read; a read that does not say how long gets Inline
)

const (
	maxSeed  = 1<<53 - 1 // the largest that every JSON reader keeps exact
	template = "bytes://{seed}/{size}{?offset,length}"
	mimeType = "application/octet-stream"
	input    = `{"type":"object","properties":{` +
		`"n":{"type":"integer","minimum":0,"maximum":52428800,"description":"How many bytes, up to 52,428,800"},` +
		`"seed":{"type":"integer","minimum":0,"maximum":9007199254740991,"description":"Makes the same bytes again; a new one each time if left out"}},` +
		`"required":["n"]}`
	output = `{"type":"object","properties":{"bytes":{"type":"integer"},"seed":{"type":"integer"},` +
		`"uri":{"type":"string","format":"uri","description":"Resource with the bytes, in pages if they are many"},` +
		`"inline":{"type":"boolean","description":"true when the bytes are in this result"}},"required":["bytes","seed","uri","inline"]}`
)

// Source is the one feature of this package. The zero value is ready.
type Source struct{}

// Tools is random_bytes.
func (Source) Tools() []server.ServerTool {
	return []server.ServerTool{kit.Tool("random_bytes", "Random bytes",
		"Makes n bytes: up to "+text.Bytes(Inline)+" in the result itself, above that as a link to a resource that is read in pages. The same seed makes the same bytes.",
		kit.ReadOnly, kit.Args(randomBytes), input, output)}
}

// Templates is the template of the bytes of any seed.
func (Source) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate(template, "random-bytes", mcp.WithTemplateTitle("Random bytes"), mcp.WithTemplateMIMEType(mimeType),
			mcp.WithTemplateDescription("The bytes that follow from a seed: length of them ("+text.Bytes(Inline)+" by default, "+text.Bytes(MaxPage)+" at most) from offset on; _meta.next of the contents is the next page.")),
		Handler: func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			c, err := read(r.Params.URI)
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{c}, nil
		},
	}}
}

func randomBytes(_ context.Context, _ mcp.CallToolRequest, in struct {
	N    float64
	Seed *float64
},
) (*mcp.CallToolResult, error) {
	seed := rand.Uint64N(maxSeed + 1)
	if in.Seed != nil {
		seed = uint64(*in.Seed)
	}
	size := int64(in.N)
	uri := fmt.Sprintf("bytes://%d/%d", seed, size)
	res, err := kit.JSON(struct {
		Bytes  int64  `json:"bytes"`
		Seed   uint64 `json:"seed"`
		URI    string `json:"uri"`
		Inline bool   `json:"inline"`
	}{size, seed, uri, size <= Inline})
	if err != nil {
		return nil, err
	}
	if size <= Inline {
		res.Content = append(res.Content, mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: uri, MIMEType: mimeType, Blob: encodeChunk(seed, 0, size)}))
		return res, nil
	}
	link := mcp.NewResourceLink(uri, "random bytes", fmt.Sprintf("%d bytes of seed %d, in pages", size, seed), mimeType)
	link.Size = &size
	res.Content = append(res.Content, link)
	return res, nil
}

// read is one page of the bytes that a URI names.
func read(uri string) (mcp.BlobResourceContents, error) {
	none := mcp.BlobResourceContents{}
	missing := jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "unknown URI %.200q; the form is bytes://SEED/SIZE?offset=N&length=N with SIZE up to %d", uri, MaxBytes)
	if len(uri) > 200 {
		return none, missing
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "bytes" {
		return none, missing
	}
	seed, ok1 := number(u.Host, maxSeed)
	size, ok2 := number(strings.TrimPrefix(u.Path, "/"), MaxBytes)
	q := u.Query()
	offset, length, ok3, ok4 := int64(0), int64(Inline), true, true
	if q.Has("offset") {
		offset, ok3 = number(q.Get("offset"), size)
	}
	if q.Has("length") {
		length, ok4 = number(q.Get("length"), MaxBytes)
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || length == 0 {
		return none, missing
	}
	length = min(length, MaxPage, size-offset)
	out := mcp.BlobResourceContents{URI: uri, MIMEType: mimeType, Blob: encodeChunk(uint64(seed), offset, length)}
	out.Meta = map[string]any{"offset": offset, "size": size}
	if next := offset + length; next < size {
		out.Meta["next"] = fmt.Sprintf("bytes://%d/%d?offset=%d&length=%d", seed, size, next, length)
	}
	return out, nil
}

// number reads digits between 0 and limit.
func number(s string, limit int64) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err == nil && n <= uint64(limit)
}

// encodeChunk is base64 of the length bytes of seed from offset on, one buffer for each.
func encodeChunk(seed uint64, offset, length int64) string {
	buf := make([]byte, length)
	fill(buf, seed, offset)
	return base64.StdEncoding.EncodeToString(buf)
}

// fill writes the bytes of seed from offset on. Eight bytes are the n-th output of SplitMix64 (Steele, Lea and Flood,
// 2014), which needs no outputs before it, so that any page costs the same.
func fill(buf []byte, seed uint64, offset int64) {
	var word [8]byte
	for i := int64(0); i < int64(len(buf)); {
		at := offset + i
		binary.LittleEndian.PutUint64(word[:], splitMix(seed, uint64(at/8)))
		i += int64(copy(buf[i:], word[at%8:]))
	}
}

func splitMix(seed, n uint64) uint64 {
	z := seed + (n+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
