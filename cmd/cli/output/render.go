package output

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

// WidthOf is the width of the terminal that f is, in cells, where tables end; 0 if f is not a terminal.
func WidthOf(f *os.File) int {
	if w, _, err := term.GetSize(f.Fd()); err == nil {
		return w
	}
	return 0
}

// ToolResult writes a tools/call result: its content blocks, then structured content unless a text block says the same.
func (t *Text) ToolResult(result json.RawMessage) {
	cs, err := offer.Contents(result)
	if err != nil {
		t.JSON(result)
		return
	}
	for i, c := range cs {
		if i > 0 {
			t.Block("")
		}
		t.Content(c)
	}
	sc := offer.StructuredContent(result)
	if len(sc) == 0 || len(cs) == 1 && sameJSON([]byte(cs[0].Text), sc) {
		return
	}
	if len(cs) > 0 {
		t.Block("\nstructured content:")
	}
	t.JSON(sc)
}

// Content writes one block: text as it is, anything else as a description.
func (t *Text) Content(c offer.Content) {
	switch {
	case c.Type == "text":
		t.Block(c.Text)
	case c.Type == "resource_link":
		t.Block("link to " + strings.TrimSpace(c.URI+" "+Bracketed(c.Name, c.MIME)))
	case c.Data != nil:
		t.Block(Blob(c))
	case c.Text != "" || c.URI != "":
		if c.URI != "" {
			t.Block("resource " + strings.TrimSpace(c.URI+" "+Bracketed(c.MIME)))
		}
		t.Block(c.Text)
	default:
		t.Block(fmt.Sprintf("content of type %q:", c.Type))
		t.JSON(c.Raw)
	}
}

// Blob describes binary content in a line: type, size, and how to get the bytes.
func Blob(c offer.Content) string {
	kind := c.Type
	if c.URI != "" {
		kind = "resource " + c.URI
	}
	size := fmt.Sprintf("%d bytes", len(c.Data))
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(c.Data)); err == nil {
		size += fmt.Sprintf(", %dx%d pixels", cfg.Width, cfg.Height)
	}
	return strings.TrimSpace(kind+" "+Bracketed(c.MIME)) + ", " + size + "; --format json has the data"
}

// Bracketed joins what is not empty, in parentheses.
func Bracketed(parts ...string) string {
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

// Terminal reports whether a file is one.
func Terminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }
