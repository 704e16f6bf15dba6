package expect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxIgnored is how many places the expressions of one set may name.
const maxIgnored = 100_000

// Places are the places of a value that are left out of a comparison. The zero value is none.
type Places struct {
	pointers []string
	queries  []*Query
}

// Ignore adds a place: a JSON pointer, or a jq expression that names places, such as .items[].id.
func (p *Places) Ignore(place string) error {
	if strings.HasPrefix(place, "/") {
		p.pointers = append(p.pointers, place)
		return nil
	}
	q, err := parsePaths(place)
	if err != nil {
		return err
	}
	p.queries = append(p.queries, q)
	return nil
}

// Ignored are the places, as Ignore was given them.
func (p *Places) Ignored() []string {
	all := slices.Clone(p.pointers)
	for _, q := range p.queries {
		all = append(all, q.Text)
	}
	return all
}

// In reports of JSON pointers into the values whether they are left out: what is at a place, or below. Nil where nothing is.
func (p *Places) In(ctx context.Context, values ...[]byte) (func(pointer string) bool, error) {
	set := map[string]bool{}
	for _, at := range p.pointers {
		set[at] = true
	}
	for _, q := range p.queries {
		for _, raw := range values {
			v, err := decode(raw)
			if err != nil {
				return nil, err
			}
			err = q.each(ctx, v, func(out any) bool {
				set[pointerOf(out)] = true
				return len(set) <= maxIgnored
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.Text, err)
			}
			if len(set) > maxIgnored {
				return nil, fmt.Errorf("%s names more than %d places", q.Text, maxIgnored)
			}
		}
	}
	if len(set) == 0 {
		return nil, nil
	}
	return func(pointer string) bool {
		for at := pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
			if set[at] {
				return true
			}
			if at == "" {
				return false
			}
		}
	}, nil
}

// pointerOf is a path of jq as a JSON pointer.
func pointerOf(path any) string {
	var b strings.Builder
	parts, _ := path.([]any)
	for _, p := range parts {
		b.WriteByte('/')
		switch p := p.(type) {
		case int:
			b.WriteString(strconv.Itoa(p))
		case string:
			b.WriteString(jsonrpc.EscapeToken(p))
		default: // a slice
			b.WriteString("-")
		}
	}
	return b.String()
}
