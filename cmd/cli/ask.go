package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/safe"
)

// person answers on the terminal what servers ask a command, one question at a time.
type person struct {
	asked *pending.Queue
	side  *Side
	std   Standard
}

// Attended reports whether a person answers what servers ask: one is there, and nothing was prepared.
func (a *App) Attended() bool {
	return a.Options.Script == nil && output.Terminal(a.In) && output.Terminal(a.Err)
}

// attend asks the questions that arrive, until it is stopped.
func (p *person) attend(ctx context.Context, m *session.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	changed, unfollow := m.Follow()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer unfollow()
		given := map[uint64]bool{}
		for {
			for _, q := range p.asked.Open() {
				if !given[q.ID] {
					given[q.ID] = true
					p.ask(ctx, m, q)
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// ask puts one question, unless it is over before it is answered.
func (p *person) ask(ctx context.Context, m *session.Manager, q pending.Question) {
	ctx, cancel := context.WithCancel(ctx)
	changed, unfollow := m.Follow()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer unfollow()
		for {
			if !slices.ContainsFunc(p.asked.Open(), func(o pending.Question) bool { return o.ID == q.ID }) {
				cancel()
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	defer wg.Wait()
	defer cancel()
	why := ""
	if q.Cause.Method != "" {
		why = " because of " + safe.Line(strings.TrimSpace(q.Cause.Method+" "+q.Cause.Target), 80)
	}
	p.side.Ask(fmt.Sprintf("%s asks%s (%s):\n%s", safe.Line(q.Title, 60), why, q.Kind, quotedText(said(q))))
	result, err := p.answer(ctx, q)
	switch {
	case ctx.Err() != nil:
		p.side.Ask("\n")
		return
	case err == nil && result == nil:
		err = p.asked.Decline(q.ID)
	case err == nil:
		err = p.asked.Answer(q.ID, result)
	}
	if err != nil {
		p.side.Warn(err.Error())
	}
}

// answer is a result of q, nil to decline by an error. The end of the input cancels.
func (p *person) answer(ctx context.Context, q pending.Question) (json.RawMessage, error) {
	if q.Kind == pending.Sampling {
		line, err := p.line(ctx, "The model's reply (an empty line declines): ")
		if err != nil || line == "" {
			return nil, err
		}
		return pending.Message{Content: []json.RawMessage{pending.Text(line)}, Model: "human", StopReason: "endTurn"}.Result(), nil
	}
	options := "accept (a), decline (d) or cancel (c)? "
	if q.Kind == pending.URL && pending.PageOf(jsonrpc.GetString(q.Params, "url")).Refused != nil {
		options = "decline (d) or cancel (c)? "
	}
	for {
		line, err := p.line(ctx, options)
		if err != nil {
			return nil, err
		}
		switch strings.ToLower(line) {
		case "d", pending.Decline:
			return pending.ActionResult(pending.Decline), nil
		case "", "c", pending.Cancel:
			return pending.ActionResult(pending.Cancel), nil
		case "a", pending.Accept:
			if !strings.HasPrefix(options, "accept") {
				continue
			}
			if q.Kind == pending.URL {
				return pending.ActionResult(pending.Accept), nil
			}
			if content, err := p.fill(ctx, q.Schema()); content != nil || err != nil {
				return pending.AcceptResult(content), err
			}
		}
	}
}

// fill asks for the fields of a form; nil if what was typed does not make one.
func (p *person) fill(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	const most = 200 // fields
	form := schema.Parse(raw)
	content, _ := pending.Defaults(raw)
	value, err := schema.ParseValue(content)
	if err != nil {
		return nil, err
	}
	var words []string
	for i, c := range form.Root().Children(nil) {
		if i == most || strings.ContainsAny(c.Name, `=\`) {
			continue
		}
		f := c.Field()
		about := []string{f.Types.String()}
		if c.Required {
			about = append(about, "required")
		}
		for _, k := range f.Constraints {
			about = append(about, k.Text)
		}
		options := f.Options
		if item := f.Item(0); len(options) == 0 && f.Shape() == schema.ShapeArray && item != nil {
			options = item.Options // several of them
		}
		if len(options) > 0 {
			about = append(about, "one of "+optionNames(options))
		}
		label := "  " + safe.Line(c.Name, 60) + " (" + safe.Line(strings.Join(about, ", "), 300) + ")"
		if f.Default.IsSet() {
			label += " [" + safe.Line(f.Default.String(), 60) + "]"
		}
		line, err := p.line(ctx, label+": ")
		if err != nil {
			return nil, err
		}
		if line != "" {
			words = append(words, c.Name+"="+line)
		}
	}
	value, err = form.CoerceArgs(value, words)
	if err != nil {
		p.side.Warn(err.Error())
		return nil, nil
	}
	problems, _ := form.ValidateJSON(value.JSON())
	for _, x := range problems {
		p.side.Warn(x.Sentence())
	}
	if len(problems) > 0 {
		return nil, nil
	}
	return value.JSON(), nil
}

// optionNames are the values to choose from, with their titles.
func optionNames(options []schema.Option) string {
	const most = 12
	var names []string
	for _, o := range options[:min(len(options), most)] {
		name := o.Value.Text()
		if o.Title != "" && o.Title != name {
			name += " = " + o.Title
		}
		names = append(names, name)
	}
	if len(options) > most {
		names = append(names, "…")
	}
	return strings.Join(names, " | ")
}

func (p *person) line(ctx context.Context, question string) (string, error) {
	p.side.Ask(question)
	return ReadLine(ctx, p.std.In)
}

// said is what the server says when it asks.
func said(q pending.Question) string {
	if q.Kind == pending.URL {
		page := pending.PageOf(jsonrpc.GetString(q.Params, "url"))
		lines := []string{q.Message(), jsonrpc.GetString(q.Params, "url"), "host: " + page.Host}
		lines = append(lines, page.Warnings...)
		if page.Refused != nil {
			lines = append(lines, page.Refused.Error())
		}
		return strings.Join(lines, "\n")
	}
	if q.Kind != pending.Sampling {
		return q.Message()
	}
	lines := []string{jsonrpc.GetString(q.Params, "systemPrompt")}
	_ = jsonrpc.Elements(jsonrpc.Get(q.Params, "messages"), func(m []byte) bool { // anything else says nothing
		content := jsonrpc.GetString(m, "content", "text")
		if content == "" {
			content = string(jsonrpc.Get(m, "content"))
		}
		lines = append(lines, jsonrpc.GetString(m, "role")+": "+text.Clip(content, 4000))
		return len(lines) < 50
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// quotedText marks each line of a server's, so that none passes for a question of ours.
func quotedText(s string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(safe.Text(text.Clip(s, 64<<10)), "\n"), "\n") {
		b.WriteString("▌ " + line + "\n")
	}
	return b.String()
}
