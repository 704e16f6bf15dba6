package call

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/offer"
)

// toolsCost prints what each tool costs a model, those that cost most first. As JSON it is an object of its own, not the server's.
func toolsCost(ctx context.Context, l *cli.Link) error {
	list, err := l.List(ctx, offer.Tools)
	if err != nil {
		return err
	}
	if l.Opts.ReadOnly {
		list.Items, _ = l.ReadOnly(list.Items, list.JSON())
	}
	entries := cost.All(ctx, l.Name(), offer.Tools, list.Items)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	slices.SortStableFunc(entries, func(a, b cost.Entry) int { return cmp.Compare(b.Tokens, a.Tokens) })
	total := cost.Total(entries)
	raw, err := output.Marshal(struct {
		Counted  string       `json:"counted"`
		Estimate string       `json:"estimate"`
		Total    cost.Sum     `json:"total"`
		Tools    []cost.Entry `json:"tools"`
	}{cost.Counted, cost.Estimate, total, entries})
	if err != nil {
		return err
	}
	return l.Print(output.Answer{Result: raw, Frames: l.Responses(offer.Tools.Method()), Text: func(t *output.Text) {
		if len(entries) == 0 {
			t.Block("none")
			return
		}
		rows := [][]string{{"tool", "bytes", "tokens", "share", "description", "schema"}}
		for _, e := range entries {
			rows = append(rows, []string{e.Name, strconv.Itoa(e.Bytes), strconv.Itoa(e.Tokens), cost.Share(e.Tokens, total.Tokens), strconv.Itoa(e.Description), strconv.Itoa(e.Schema)})
		}
		rows = append(rows, []string{text.Count(total.Count, "tool", "tools"), strconv.Itoa(total.Bytes), strconv.Itoa(total.Tokens)})
		t.Table(l.Out.Width, rows)
		t.Block(cost.Estimate)
	}})
}
