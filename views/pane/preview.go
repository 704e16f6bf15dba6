package pane

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// previews are how the payloads of entries begin, for the free columns of a list.
type previews struct {
	j    *journal.Journal
	text map[uint64]string
}

const (
	previewBytes = 4 << 10 // of a body that are read
	mostPreviews = 2000    // that are kept
)

// of is how the payload of an entry begins: not safe yet.
func (p *previews) of(j *journal.Journal, e journal.Entry) string {
	if e.Size == 0 || e.Kind == journal.HTTP || e.Kind == journal.State {
		return ""
	}
	if p.j != j || len(p.text) >= mostPreviews {
		p.j, p.text = j, map[uint64]string{}
	}
	s, ok := p.text[e.Seq]
	if !ok {
		head, err := j.Head(e.Seq, previewBytes)
		if err == nil {
			s = preview(e, head)
			s = strings.ToValidUTF8(s[:min(len(s), 400)], "")
		}
		p.text[e.Seq] = s
	}
	return s
}

// payloads are the members of params and results that hold what people look for.
var payloads = []string{"arguments", "structuredContent", "content", "contents", "messages", "tools", "resources", "resourceTemplates", "prompts"}

// preview is what an entry says, of the beginning of its body.
func preview(e journal.Entry, head []byte) string {
	if e.Kind == journal.Stderr || e.Kind == journal.Bad {
		return string(head)
	}
	member := "result"
	switch e.Kind {
	case journal.Request, journal.Notification:
		member = "params"
	case journal.ErrorResponse:
		member = "error"
	}
	if e.Size > len(head) { // cut: no JSON any more
		_, rest, _ := bytes.Cut(head, []byte(`"`+member+`"`))
		for _, name := range payloads { // behind what is said about it
			if i := bytes.Index(rest, []byte(`"`+name+`":`)); i >= 0 {
				rest = rest[i:]
				break
			}
		}
		return string(bytes.TrimLeft(rest, ": \n"))
	}
	raw := jsonrpc.Get(head, member)
	if short, err := jsonrpc.Update(raw, jsonrpc.Delete("_meta")); err == nil {
		raw = short
	}
	first := func(path ...string) string {
		v := jsonrpc.Get(raw, path...)
		if len(v) == 0 {
			return ""
		}
		return PlainValue(v)
	}
	switch {
	case e.Kind == journal.ErrorResponse:
		return first("code") + " " + first("message")
	case e.Method == "tools/call" && member == "params":
		return first("arguments")
	case e.Method == "tools/call":
		text := ""
		_ = jsonrpc.Elements(jsonrpc.Get(raw, "content"), func(v []byte) bool {
			if t := jsonrpc.Get(v, "text"); len(t) > 0 {
				text = PlainValue(t)
			}
			return text == ""
		})
		if text != "" {
			return fmt.Sprintf("%q", text)
		}
	case e.Method == "notifications/message":
		return strings.TrimSpace(first("level") + " " + first("logger") + " " + first("data"))
	case e.Method == "notifications/progress":
		s := first("progress")
		if total := first("total"); total != "" {
			s += "/" + total
		}
		return s + " " + first("message")
	case e.Method == "notifications/cancelled":
		return "#" + first("requestId") + " " + first("reason")
	}
	if s := string(raw); s != "{}" {
		return s
	}
	return ""
}
