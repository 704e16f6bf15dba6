package fuzz

import (
	"strings"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
)

// Bounds of what is remembered of results.
const (
	maxNames   = 500       // and links
	maxPerName = 4         // different values; the first ones stay
	maxLearn   = 256 << 10 // bytes of a result that is looked into
	maxLearnt  = 300       // characters of a text that is remembered
)

// Pool has values that were seen in results, by the names that they had there: what one call returns as id, another takes as id.
type Pool struct {
	named map[string][]*schema.Value
	Links []string // URIs of resource links
}

// NewPool returns an empty pool: see Learn.
func NewPool() *Pool { return &Pool{named: map[string][]*schema.Value{}} }

// plainName is a name as it is looked up: user_id, userId and UserID are one.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// of are values for an argument of that name: those that were called so, and for one such as userId those called id.
func (p *Pool) of(name string) []*schema.Value {
	if p == nil || name == "" {
		return nil
	}
	n := plainName(name)
	if found := p.named[n]; len(found) > 0 {
		return found
	}
	for _, last := range []string{"id", "name", "uri", "url", "path"} {
		if strings.HasSuffix(n, last) {
			return p.named[last]
		}
	}
	return nil
}

// Learn takes the values of a result.
func (p *Pool) Learn(result []byte) {
	if len(result) > maxLearn {
		return
	}
	r, err := offer.ParseResult(result)
	if err != nil {
		return
	}
	if v, err := schema.ParseValue(offer.StructuredContent(result)); err == nil {
		p.take("", v, 0)
	}
	for _, c := range r.Contents {
		switch {
		case c.Type == "resource_link":
			p.link(c.URI)
		case c.Type == "text" && len(c.Text) > 1 && (c.Text[0] == '{' || c.Text[0] == '['):
			if v, err := schema.ParseValue([]byte(c.Text)); err == nil {
				p.take("", v, 0)
			}
		}
	}
}

func (p *Pool) link(uri string) {
	if uri == "" || len(uri) > maxLearnt || len(p.Links) >= maxNames {
		return
	}
	for _, l := range p.Links {
		if l == uri {
			return
		}
	}
	p.Links = append(p.Links, uri)
}

// take remembers the scalars in a value by name: items of a list called users go by user.
func (p *Pool) take(name string, v *schema.Value, depth int) {
	switch v.Kind() {
	case schema.Object, schema.Array:
		if depth > 8 {
			return
		}
		for i, m := range v.Members() {
			if i > 200 {
				return
			}
			n := m.Name
			if v.Kind() == schema.Array {
				n = strings.TrimSuffix(name, "s")
			}
			p.take(n, m.Value, depth+1)
		}
	case schema.String, schema.Number:
		n := plainName(name)
		if n == "" || len(v.Literal()) > maxLearnt || len(p.named) >= maxNames {
			return
		}
		for _, o := range p.named[n] {
			if schema.Equal(o, v) {
				return
			}
		}
		if len(p.named[n]) < maxPerName {
			p.named[n] = append(p.named[n], v)
		}
	}
}
