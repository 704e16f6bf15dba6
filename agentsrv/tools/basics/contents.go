package basics

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	readmeURI = "demo://readme"
	logoURI   = "demo://logo"

	readme = `# mcphud demo

A server to try a client on.

- **Tools** for each kind of input and output
- *Resources*: this page and a picture
- A template, ` + "`demo://note/{id}`" + `, whose ` + "`id`" + ` completes
- Prompts with arguments that complete

| tool | shows |
|---|---|
| form_gallery | every JSON Schema keyword |
| contents | every kind of content |
| sleep | progress and cancelling |

` + "```json\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n```\n"

	jsonText = `{"name":"mcphud","big":9007199254740993,"pi":3.140,"nested":{"list":[1,2,{"deep":true}],"empty":{}},"rows":[{"id":1,"city":"Zürich"},{"id":2,"city":"東京"}]}`
)

// contents returns content blocks of every type of the specification (2025-11-25, server/tools, "Tool Result").
func (a *Set) contents(_ context.Context, _ mcp.CallToolRequest, in struct{ Kind string }) (*mcp.CallToolResult, error) {
	all := []struct {
		kind    string
		content mcp.Content
	}{
		{"text", annotatedText("Plain text, over\ntwo lines.", mcp.RoleUser, 0.5)},
		{"markdown", mcp.NewTextContent("## Markdown\n\nWith *emphasis*, `code` and a list:\n\n1. one\n2. two\n")},
		{"json", mcp.NewTextContent(jsonText)},
		{"image", mcp.NewImageContent(base64.StdEncoding.EncodeToString(logoPNG()), "image/png")},
		{"audio", mcp.NewAudioContent(base64.StdEncoding.EncodeToString(toneWAV()), "audio/wav")},
		{"resource_text", mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "demo://note/embedded", MIMEType: "text/markdown", Text: "# An embedded note\n\nIts text came with the result.\n"})},
		{"resource_blob", mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: "demo://bytes", MIMEType: "application/octet-stream", Blob: base64.StdEncoding.EncodeToString(everyByte())})},
		{"resource_link", mcp.NewResourceLink(readmeURI, "readme", "The readme, to be read on demand", "text/markdown")},
	}
	res := &mcp.CallToolResult{}
	for _, c := range all {
		if in.Kind == "all" || in.Kind == c.kind {
			res.Content = append(res.Content, c.content)
		}
	}
	if len(res.Content) == 0 {
		return mcp.NewToolResultErrorf("contents: unknown kind %q; leave it out for one of each", in.Kind), nil
	}
	return res, nil
}

func annotatedText(text string, audience mcp.Role, priority float64) mcp.TextContent {
	c := mcp.NewTextContent(text)
	c.Annotations = &mcp.Annotations{Audience: []mcp.Role{audience}, Priority: &priority}
	return c
}

// logoPNG draws a 32x32 picture with every hue, so that a terminal's colours can be judged by it.
func logoPNG() []byte {
	const n = 32
	img := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			dx, dy := float64(x)-15.5, float64(y)-15.5
			r := math.Hypot(dx, dy) / 16
			if r > 1 {
				continue // transparent outside the disc
			}
			h := math.Atan2(dy, dx)
			wave := func(shift float64) uint8 { return uint8(127.5 + 127.5*r*math.Cos(h-shift)) }
			img.SetNRGBA(x, y, color.NRGBA{R: wave(0), G: wave(2 * math.Pi / 3), B: wave(4 * math.Pi / 3), A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil // a bytes.Buffer does not fail, and neither does a picture of this size
	}
	return b.Bytes()
}

// toneWAV is a fifth of a second of 440 Hz: RIFF/WAVE, PCM, mono, 8 bits, 8 kHz.
func toneWAV() []byte {
	const rate, samples = 8000, 1600
	b := make([]byte, 0, 44+samples)
	le := binary.LittleEndian
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, 36+samples)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, 1) // channels
	b = le.AppendUint32(b, rate)
	b = le.AppendUint32(b, rate) // bytes a second
	b = le.AppendUint16(b, 1)    // bytes a frame
	b = le.AppendUint16(b, 8)    // bits a sample
	b = append(b, "data"...)
	b = le.AppendUint32(b, samples)
	for i := range samples {
		b = append(b, uint8(128+100*math.Sin(2*math.Pi*440*float64(i)/rate)))
	}
	return b
}

// everyByte is 0x00 to 0xff: what a client that mangles binary data shows first.
func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
