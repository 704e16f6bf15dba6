package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/offer"
)

// toolsCost prints what each tool costs a model, those that cost most first. As JSON it is an object of its own, not the server's.
func toolsCost(ctx context.Context, l *link) error {
	list, err := l.List(ctx, offer.Tools)
	if err != nil {
		return err
	}
	if l.opts.readOnly {
		list.Items, _ = l.readOnly(list.Items, list.JSON())
	}
	entries := cost.All(ctx, l.Name(), offer.Tools, list.Items)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	slices.SortStableFunc(entries, func(a, b cost.Entry) int { return cmp.Compare(b.Tokens, a.Tokens) })
	total := cost.Total(entries)
	raw, err := marshal(struct {
		Counted  string       `json:"counted"`
		Estimate string       `json:"estimate"`
		Total    cost.Sum     `json:"total"`
		Tools    []cost.Entry `json:"tools"`
	}{cost.Counted, cost.Estimate, total, entries})
	if err != nil {
		return err
	}
	return l.print(answer{result: raw, frames: l.responses(offer.Tools.Method()), text: func(t *textOutput) {
		if len(entries) == 0 {
			t.block("none")
			return
		}
		rows := [][]string{{"tool", "bytes", "tokens"}}
		for _, e := range entries {
			rows = append(rows, []string{e.Name, strconv.Itoa(e.Bytes), strconv.Itoa(e.Tokens)})
		}
		rows = append(rows, []string{count(total.Count, "tool", "tools"), strconv.Itoa(total.Bytes), strconv.Itoa(total.Tokens)})
		t.table(l.out.width, rows)
		t.block(cost.Estimate)
	}})
}
