package pane

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// quoteMark begins every line that a server wrote where it asks for something, so that none of them passes for one of ours.
const quoteMark = "▌ "

const (
	maxQuoted = 64 << 10 // bytes of one text that are quoted; the rest is one key away
	maxSaid   = 400      // blocks of a conversation that are shown one by one
	maxFlaws  = 3        // lines above a question
)

// QuestionParts takes a question apart: what the server says, what came before in the same call, what was answered, and the bytes as
// they came. It may take long for large questions.
func QuestionParts(e pending.Record, masked func(result []byte) []byte) (Verdict, []Part) {
	q := e.Question
	name := fmt.Sprintf("question-%d", q.ID)
	said := Part{label: "question", src: Source{Name: name, blocks: questionBlocks(q)}}
	if len(said.src.blocks) == 1 {
		one := said.src.blocks[0]
		one.Name, one.Head = name, append([]string{one.title}, one.Head...)
		said.src = one
	}
	parts := []Part{said}
	if tools := jsonrpc.Get(q.Params, "tools"); q.Kind == pending.Sampling && tools != nil {
		parts = append(parts, Part{label: "tools", src: Source{Name: name + "-tools", path: ".tools", read: bytesOf(tools)}})
	}
	if s := q.Schema(); s != nil {
		parts = append(parts, Part{label: "schema", src: Source{Name: name + "-schema", path: ".requestedSchema", read: bytesOf(s)}})
	}
	if len(q.Earlier) > 0 {
		earlier := Part{label: "earlier", src: Source{Name: name + "-earlier"}}
		for i, x := range q.Earlier {
			earlier.src.blocks = append(earlier.src.blocks,
				Source{title: fmt.Sprintf("asked %d: %s", i+1, safe.Line(x.Method, 60)), read: bytesOf(x.Params)},
				Source{title: fmt.Sprintf("answered %d", i+1), read: bytesOf(masked(x.Result))})
		}
		parts = append(parts, earlier)
	}
	switch {
	case e.Result != nil:
		parts = append(parts, Part{label: "answer", src: Source{Name: name + "-answer", read: bytesOf(masked(e.Result))}})
	case e.Fault != nil:
		b, err := json.Marshal(e.Fault)
		if err == nil {
			parts = append(parts, Part{label: "answer", src: Source{Name: name + "-answer", read: bytesOf(b)}})
		}
	}
	parts = append(parts, Part{label: "raw", src: Source{Name: name + "-raw", None: "no params", read: bytesOf(q.Params)}})
	flaws := flawsOf(q)
	if e.Why != "" { // the title has no room for it
		flaws = append([]string{"⊘ " + safe.Line(e.Why, 200)}, flaws...)
	}
	return Verdict{Flaws: flaws}, parts
}

// flawsOf is what is wrong with a question.
func flawsOf(q pending.Question) (out []string) {
	if q.StateChanged {
		out = append(out, "! requestState came back changed: the server did not return what it was sent")
	}
	if old := offer.Deprecated(string(q.Kind)); old != "" {
		out = append(out, "! "+string(q.Kind)+" is "+old)
	}
	if q.Kind == pending.Form {
		all := pending.Violations(q.Schema())
		for i, v := range all {
			if i == maxFlaws {
				out = append(out, fmt.Sprintf("! … and %d more", len(all)-i))
				break
			}
			out = append(out, "! beyond what the specification allows: "+safe.Line(v, 200))
		}
	}
	return out
}

// questionBlocks is what a server says when it asks.
func questionBlocks(q pending.Question) (out []Source) {
	who := safe.Line(q.Title, 60)
	switch q.Kind {
	case pending.Sampling:
		return conversation(q, who)
	case pending.URL:
		out = append(out, pageBlock(q, who))
	}
	if m := q.Message(); m != "" || q.Kind != pending.Other {
		return append([]Source{quoted(who+" says", m)}, out...)
	}
	return append(out, Source{title: who + " asks " + safe.Line(q.Method, 80), read: bytesOf(q.Params), None: "no params"})
}

// quoted is a text of a server, each line marked as such.
func quoted(title, s string) Source {
	return Source{title: title, None: "nothing", quoted: true, read: bytesOf([]byte(s)), ext: ".txt", render: quote(nil)}
}

// quote puts the mark before what inner renders, or before the text itself.
func quote(inner func(context.Context, *tui.Theme, int, []byte) ([]string, error)) func(context.Context, *tui.Theme, int, []byte) ([]string, error) {
	return func(ctx context.Context, th *tui.Theme, w int, data []byte) (out []string, err error) {
		var lines []string
		if inner != nil {
			if lines, err = inner(ctx, th, w-2, data); err != nil {
				return nil, err
			}
		} else {
			lines = paint.Wrap(safe.Text(text.Clip(string(data), maxQuoted)), w-2)
		}
		mark := th.Accent2.S(quoteMark)
		for _, l := range lines {
			out = append(out, mark+paint.Cut(l, w-2))
		}
		if inner == nil && len(data) > maxQuoted {
			out = append(out, th.Warn.S(fmt.Sprintf("… %s more: press m for all of it as text", text.Bytes(len(data)-maxQuoted))))
		}
		return out, nil
	}
}

// pageBlock is the URL of a question: its host first, which is what decides, then all of it.
func pageBlock(q pending.Question, who string) Source {
	raw := jsonrpc.GetString(q.Params, "url")
	p := pending.PageOf(raw)
	about := []string{"host " + cmp.Or(safe.Line(p.Host, 200), "none")}
	if q.Required {
		about = append(about, "the call failed because this page was not visited: accepting makes it again")
	}
	for _, s := range p.Warnings {
		about = append(about, "! "+s)
	}
	if p.Refused != nil { // its URL is below
		why := "✗ " + safe.Line(p.Why, 250)
		if one := why + "; " + p.Next; paint.Width(one) <= 76 {
			about = append(about, one)
		} else { // what stands above a block is not wrapped
			about = append(about, why, "  "+p.Next)
		}
	}
	return Source{
		title: who + " wants a page to be opened", Head: about, read: bytesOf([]byte(raw)), None: "no URL", ext: ".txt", quoted: true,
		render: quote(nil),
	}
}

// conversation is what a language model is asked with: the system prompt, the messages, and the settings.
func conversation(q pending.Question, who string) (out []Source) {
	if s := jsonrpc.GetString(q.Params, "systemPrompt"); s != "" {
		out = append(out, quoted("system prompt", s))
	}
	n := 0
	err := jsonrpc.Elements(jsonrpc.Get(q.Params, "messages"), func(m []byte) bool {
		role := jsonrpc.GetString(m, "role")
		content := jsonrpc.Get(m, "content")
		one := func(block []byte) bool {
			if n++; n <= maxSaid {
				out = append(out, saidBlock(role, block))
			}
			return true
		}
		if b := bytes.TrimSpace(content); len(b) > 0 && b[0] == '[' {
			_ = jsonrpc.Elements(content, one) // the params were valid JSON when they came
			return true
		}
		return one(content)
	})
	switch {
	case err != nil:
		out = append(out, Source{title: "messages are not an array: see raw", None: " ", read: bytesOf(nil)})
	case n > maxSaid:
		out = append(out, Source{title: fmt.Sprintf("%d more: see raw", n-maxSaid), None: " ", read: bytesOf(nil)})
	}
	if s := settings(q.Params); s != "" { // last: what is asked comes first
		out = append(out, Source{title: "what " + who + " wants of the answer", read: bytesOf([]byte(s)), ext: ".txt", quoted: true, render: quote(nil)})
	}
	return out
}

// saidBlock is one block of a conversation.
func saidBlock(role string, block []byte) Source {
	list, _ := offer.Contents(append(append([]byte(`{"content":[`), block...), "]}"...)) // what is wrong is in its Flaw
	if len(list) == 0 {
		return Source{title: safe.Line(role, 40), None: "no content", read: bytesOf(block)}
	}
	c := list[0]
	c.Role = role
	_, src := contentSource(c)
	switch c.Type {
	case "text":
		if c.Flaw == nil {
			src.render, src.ext, src.quoted = quote(src.render), ".txt", true
		}
	case "tool_use", "tool_result":
		src.Head = nil
		src.title = strings.TrimSpace(safe.Line(role, 40) + " · " + c.Type + " " + safe.Line(c.Name, 80))
		src.read = bytesOf(block)
	}
	return src
}

// settings are the members of a sampling request beside its texts, one a line.
func settings(params []byte) string {
	var b strings.Builder
	_ = jsonrpc.Members(params, func(key string, v []byte) bool { // the params were an object when they came
		switch key {
		case "messages", "systemPrompt", "_meta":
		case "tools":
			var names []string
			_ = jsonrpc.Elements(v, func(t []byte) bool {
				names = append(names, jsonrpc.GetString(t, "name"))
				return len(names) < 50
			})
			fmt.Fprintf(&b, "tools: %s\n", strings.Join(names, ", "))
		default:
			fmt.Fprintf(&b, "%s: %s\n", key, text.Clip(string(v), 1000))
		}
		return b.Len() < 8<<10
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// maxGlance is up to how many bytes a question is read for its line in a list.
const maxGlance = 16 << 10

// QuestionText is what a question says, in a line for lists. Of a long one it says how long it is: it is not read here.
func QuestionText(q pending.Question) string {
	if len(q.Params) > maxGlance {
		return "(" + text.Bytes(len(q.Params)) + ")"
	}
	s := q.Message()
	switch q.Kind {
	case pending.Sampling:
		_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "messages"), func(m []byte) bool { // the newest message is what is asked
			if t := jsonrpc.GetString(m, "content", "text"); t != "" {
				s = t
			}
			return true
		})
	case pending.Other:
		s = q.Method
	}
	return safe.Line(text.Clip(text.FirstLine(s), 400), 0)
}

// QuestionRows is about how many rows a question takes in w cells, to make room for it.
func QuestionRows(q pending.Question, w int) int {
	if q.Kind == pending.Sampling || len(q.Params) > maxGlance {
		return maxSaid
	}
	return 1 + len(paint.Wrap(safe.Text(q.Message()), w-2)) + len(flawsOf(q))
}
