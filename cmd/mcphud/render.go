package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // for the size of a GIF
	_ "image/jpeg" // for the size of a JPEG
	_ "image/png"  // for the size of a PNG
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"github.com/mcphud/mcphud/session/offer"
)

// widthOf is the width of the terminal that f is, in cells, where tables end; 0 if f is not a terminal.
func widthOf(f *os.File) int {
	if w, _, err := term.GetSize(f.Fd()); err == nil {
		return w
	}
	return 0
}

// toolResult writes a tools/call result: its content blocks, then structured content unless a text block says the same.
func (t *textOutput) toolResult(result json.RawMessage) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.json(result)
		return
	}
	for i, c := range cs {
		if i > 0 {
			t.block("")
		}
		t.content(c)
	}
	sc := offer.StructuredContent(result)
	if len(sc) == 0 || len(cs) == 1 && sameJSON([]byte(cs[0].Text), sc) {
		return
	}
	if len(cs) > 0 {
		t.block("\nstructured content:")
	}
	t.json(sc)
}

// content writes one block: text as it is, anything else as a description.
func (t *textOutput) content(c offer.Content) {
	switch {
	case c.Type == "text":
		t.block(c.Text)
	case c.Type == "resource_link":
		t.block("link to " + strings.TrimSpace(c.URI+" "+bracketed(c.Name, c.MIME)))
	case c.Data != nil:
		t.block(blob(c))
	case c.Text != "" || c.URI != "":
		if c.URI != "" {
			t.block("resource " + strings.TrimSpace(c.URI+" "+bracketed(c.MIME)))
		}
		t.block(c.Text)
	default:
		t.block(fmt.Sprintf("content of type %q:", c.Type))
		t.json(c.Raw)
	}
}

// blob describes binary content in a line: type, size, and how to get the bytes.
func blob(c offer.Content) string {
	kind := c.Type
	if c.URI != "" {
		kind = "resource " + c.URI
	}
	size := fmt.Sprintf("%d bytes", len(c.Data))
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(c.Data)); err == nil {
		size += fmt.Sprintf(", %dx%d pixels", cfg.Width, cfg.Height)
	}
	return strings.TrimSpace(kind+" "+bracketed(c.MIME)) + ", " + size + "; --format json has the data"
}

// bracketed joins what is not empty, in parentheses.
func bracketed(parts ...string) string {
	var in []string
	for _, p := range parts {
		if p != "" {
			in = append(in, p)
		}
	}
	if len(in) == 0 {
		return ""
	}
	return "(" + strings.Join(in, ", ") + ")"
}

// sameJSON reports whether two texts are the same JSON but for white space.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
