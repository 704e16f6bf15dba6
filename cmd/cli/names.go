package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/offer"
)

// Unlisted completes an error about a name that the server does not have, by what it lists. The list is asked for only now.
func Unlisted(ctx context.Context, l *Link, kind offer.Kind, name string, err error) error {
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
	c.Next = fmt.Sprintf("%smcphud %s list shows what there is", output.DidYouMean(name, names), kind)
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
