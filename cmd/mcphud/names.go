package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui/widget"
)

// didYouMean asks for the names that a mistyped one is similar to, "" if there are none.
func didYouMean(name string, names []string) string {
	if s := similar(name, names); len(s) > 0 {
		return "did you mean " + strings.Join(s, " or ") + "? "
	}
	return ""
}

// union is a list with those of another that it does not have.
func union(names, more []string) []string {
	out := slices.Clone(names)
	for _, n := range more {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// similar picks at most three names for a mistyped one: those that it is a part of or stands for as in a filter, those that are part of
// it, and those that are at most two edits away; the nearest first.
func similar(name string, names []string) []string {
	const longest = 200
	if name == "" || len(name) > longest {
		return nil
	}
	low := strings.ToLower(name)
	query := widget.ParseQuery(strconv.Quote(low))
	worst := widget.Initials
	if len(low) < 3 {
		worst = widget.WordStart
	}
	var out []string
	for _, n := range names {
		l := strings.ToLower(n)
		if len(n) <= longest && (query.Rank(n, "") <= worst || len(low) > 2 && (len(l) > 2 && strings.Contains(low, l) || text.Edits(low, l) <= 2)) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return text.Edits(low, strings.ToLower(a)) - text.Edits(low, strings.ToLower(b))
	})
	return out[:min(3, len(out))]
}

// unlisted completes an error about a name that the server does not have, by what it lists. The list is asked for only now.
func unlisted(ctx context.Context, l *link, kind offer.Kind, name string, err error) error {
	var e *failure.Error
	if !errors.As(err, &e) || e.Kind != failure.NotFound {
		return err
	}
	list, listErr := l.List(ctx, kind)
	if listErr != nil {
		return err
	}
	c := *e
	var names []string
	for _, it := range list.Items {
		if kind == offer.Resources {
			names = append(names, it.URI)
			continue
		}
		if it.Name == name { // then it was the arguments
			c.Kind, c.Next = failure.RpcError, takes(it)
			return &c
		}
		names = append(names, it.Name)
	}
	c.Next = fmt.Sprintf("%smcphud %s list shows what there is", didYouMean(name, names), kind)
	return &c
}

// takes is which arguments a prompt needs, "" if it needs none.
func takes(it offer.Item) string {
	var need []string
	for _, p := range it.Args {
		if p.Required {
			need = append(need, p.Name)
		}
	}
	if len(need) == 0 {
		return ""
	}
	return "it needs " + strings.Join(need, " and ")
}
