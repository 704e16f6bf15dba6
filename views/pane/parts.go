package pane

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"path"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// ResultParts takes a result apart: its content blocks below each other, its structured content, and the whole as it was
// sent, which sent reads. name is what saved files are called.
func ResultParts(name string, result []byte, sent func() ([]byte, error)) (offer.Result, []Part) {
	r, err := offer.ParseResult(result)
	var out []Part
	if n := len(r.Contents); n > 0 {
		all := Part{src: Source{Name: name}}
		for i, c := range r.Contents {
			label, src := contentSource(c)
			src.Name = name
			if ext := path.Ext(name); n > 1 {
				src.Name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i+1, ext)
			}
			all.src.blocks = append(all.src.blocks, src)
			switch all.label {
			case "", label:
				all.label = label
			default:
				all.label = "content"
			}
		}
		if n == 1 {
			all.src = all.src.blocks[0]
			if c := r.Contents[0]; c.Type != "text" || c.Role != "" || c.MIME != "" || c.Name != "" {
				all.src.Head = append([]string{all.src.title}, all.src.Head...)
			}
		}
		out = append(out, all)
	}
	if len(r.Structured) > 0 {
		out = append(out, Part{label: "structured", src: Source{Name: name, path: ".structuredContent", read: bytesOf(r.Structured)}})
	}
	raw := Part{label: "raw", src: Source{Name: name + "-result", read: sent}}
	if err != nil {
		raw.src.Head = []string{"✗ " + safe.Line(err.Error(), 400)}
	}
	return r, append(out, raw)
}

// ArgumentsPart is what a server was given, as JSON.
func ArgumentsPart(args []byte) Part {
	return Part{label: "arguments", src: Source{Name: "arguments", read: bytesOf(args)}}
}

func bytesOf(b []byte) func() ([]byte, error) {
	return func() ([]byte, error) { return b, nil }
}

// contentSource is a content block as it is shown: as what it is, with its kind, size and place above it.
func contentSource(c offer.Content) (label string, src Source) {
	label, src.uri = c.Type, c.URI
	data := c.Data
	if data == nil {
		data = viewOf(c.Text)
	}
	about := []string{c.Type}
	if c.Role != "" {
		label = c.Role
		about = []string{c.Role, c.Type}
	}
	for _, s := range []string{c.MIME, c.Name} {
		if s != "" {
			about = append(about, s)
		}
	}
	if c.Type != "resource_link" {
		about = append(about, text.Bytes(len(data)))
	}
	label = safe.Line(label, 20)
	src.title = safe.Line(strings.Join(about, " · "), 500)
	if c.URI != "" { // on a line of its own: it is what people look for, and long
		src.Head = append(src.Head, safe.Line(c.URI, 2000))
	}
	for _, t := range offer.AppTerms(jsonrpc.Get(c.Raw, "_meta")) {
		src.Head = append(src.Head, safe.Line(fmt.Sprintf("%-12s %s", t[0], t[1]), 2000))
	}
	if strings.HasPrefix(c.URI, "ui://") {
		src.Head = append(src.Head, "The page of an app: not run here.")
	}
	src.read = bytesOf(data)
	kind, _, _ := mime.ParseMediaType(c.MIME)
	switch {
	case c.Flaw != nil:
		label = "✗ " + label
		src.Head = append(src.Head, "✗ "+safe.Line(c.Flaw.Error(), 400))
		src.read = bytesOf(c.Raw)
	case c.Type == "resource_link":
		label = "link"
		src.Head = append(src.Head, "Press o to read the resource.")
		src.read = bytesOf(c.Raw)
	case strings.HasPrefix(kind, "image/"):
		src.render, src.ext = renderImage, extension(kind)
	case c.Type == "audio" || strings.HasPrefix(kind, "audio/"):
		src.render, src.ext = binaryLines("Audio cannot be heard here: press s to save it."), extension(kind)
	case c.Data != nil && !texty(data):
		src.render, src.ext = binaryLines("Binary data: press s to save it, m to view it as text."), extension(kind)
	case isMarkdown(kind, data):
		src.render, src.ext = renderMarkdown, ".md"
	case !known(c.Type):
		src.Head = append(src.Head, "Unknown content type: shown raw.")
		src.read = bytesOf(c.Raw)
	}
	return label, src
}

func known(kind string) bool {
	switch kind {
	case "text", "blob", "image", "audio", "resource", "resource_link":
		return true
	}
	return false
}

// extension is the usual file name extension of a media type, "" if there is none.
func extension(kind string) string {
	switch kind { // what mime.ExtensionsByType says differs between machines
	case "image/jpeg":
		return ".jpg"
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	}
	if _, sub, ok := strings.Cut(kind, "/"); ok && FileName(sub) == sub {
		return "." + sub
	}
	return ".bin"
}

// texty is whether bytes look like text: no NUL in their beginning.
func texty(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8<<10)], 0) < 0 }

// isMarkdown goes by the media type, and for text without one by its look.
func isMarkdown(kind string, b []byte) bool {
	switch kind {
	case "text/markdown", "text/x-markdown":
		return true
	case "":
	default:
		return false
	}
	if len(b) > widget.MaxMarkdown {
		return false
	}
	marks := 0
	for line := range bytes.Lines(b) {
		l := strings.TrimRight(string(line[:min(len(line), 80)]), "\r\n")
		switch {
		case strings.HasPrefix(l, "# "), strings.HasPrefix(l, "## "), strings.HasPrefix(l, "### "), strings.HasPrefix(l, "```"):
			return true
		case strings.HasPrefix(l, "- "), strings.HasPrefix(l, "* "), strings.HasPrefix(l, "> "), strings.Contains(l, "**"), strings.Contains(l, "]("):
			marks++
		}
	}
	return marks >= 2
}

func renderMarkdown(ctx context.Context, th *tui.Theme, w int, data []byte) ([]string, error) {
	source := string(data)
	if yaml, body, ok := skills.FrontMatter(source); ok { // else its last line would be a heading
		source = "~~~~yaml\n" + yaml + "~~~~\n" + body
	}
	doc, err := widget.Markdown(ctx, th, source, w)
	if err == nil && doc.Rest > 0 {
		doc.Lines = append(doc.Lines, "", th.Warn.S(fmt.Sprintf("… %s more: press m for all of it as text", text.Bytes(doc.Rest))))
	}
	return doc.Lines, err
}

// maxImageRows is how high a picture is drawn at most, in rows.
const maxImageRows = 200

func renderImage(ctx context.Context, th *tui.Theme, w int, data []byte) ([]string, error) {
	pic, err := widget.Image(ctx, th, data, w, maxImageRows)
	if err != nil {
		return nil, err
	}
	about := th.Muted.S(fmt.Sprintf("%s · %d × %d pixels", pic.Format, pic.W, pic.H))
	return append([]string{about, ""}, pic.Lines...), nil
}

// binaryLines says what to do with bytes that no terminal shows.
func binaryLines(what string) func(context.Context, *tui.Theme, int, []byte) ([]string, error) {
	return func(_ context.Context, th *tui.Theme, w int, data []byte) ([]string, error) {
		return Message(th, w, what, fmt.Sprintf("%s, starting with % x", text.Bytes(len(data)), data[:min(len(data), 16)])), nil
	}
}
