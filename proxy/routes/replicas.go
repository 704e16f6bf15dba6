package routes

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxReplicas is how many upstreams a route may have.
const maxReplicas = 256

// Replicas are the upstreams of a route, each as a route of its own, with all that they have in common.
func (r *Route) Replicas() []*Route {
	if len(r.URLs) == 0 {
		return []*Route{r}
	}
	all := make([]*Route, len(r.URLs))
	for i, u := range r.URLs {
		one := *r
		one.URL, one.URLs = u, nil
		all[i] = &one
	}
	return all
}

// endpoints are where the agent answers HTTP; none for a command, and for a route that nobody is registered for.
func (r *Route) endpoints() []*url.URL {
	switch u := r.Endpoint(); {
	case len(r.URLs) > 0:
		return r.URLs
	case u != nil:
		return []*url.URL{u}
	}
	return nil
}

// at is the route with other upstreams, sorted.
func (r *Route) at(urls []*url.URL) *Route {
	if len(urls) == 0 {
		return r
	}
	n := *r
	if r.HostPort != 0 {
		n.HostPort, n.Transport = 0, HTTP
	}
	slices.SortFunc(urls, func(a, b *url.URL) int { return strings.Compare(a.String(), b.String()) })
	n.URL, n.URLs = urls[0], nil
	if len(urls) > 1 {
		n.URLs = urls
	}
	return &n
}

// claim is a route as one piece has it, among others of its name.
type claim struct {
	p *piece
	r *Route
}

// join makes one route of all that pieces have of its name. What a file has is the file's: whoever may write keys adds nothing to it
// unless it says so, by registered or shared.
func (t *Table) join(all []claim) *Route {
	base := all[0] // of a file, if one has it: keys come after them
	for _, c := range all {
		if c.r.Registered {
			base = c
			break
		}
	}
	r := base.r
	if len(all) == 1 {
		return r
	}
	seen := map[string]bool{}
	var urls []*url.URL
	add := func(of *Route) (full bool) {
		for _, u := range of.endpoints() {
			if seen[u.String()] {
				continue
			}
			if len(urls) == maxReplicas {
				return true
			}
			seen[u.String()], urls = true, append(urls, u)
		}
		return false
	}
	add(r)
	own := r.Headers["Authorization"] != nil
	files := base.p.path != "" && !r.Registered && !r.Shared
	for _, c := range all {
		switch {
		case c == base:
			continue
		case files && c.p.path == "":
			t.warn(c.p, `routes.%s is ignored: %s has this route, and does not say "shared": true`, r.Name, base.p.order[1:])
			continue
		case !r.Registered && !sameButAddress(r, c.r), r.Registered && c.r.Registered:
			t.warn(c.p, "routes.%s is ignored: %s has a route of this name with other settings", r.Name, base.p.order[1:])
			continue
		case r.Registered && !own && len(urls) == 0:
			r = r.credentials(c.r.Headers)
		case r.Registered && !own && r.Headers.Get("Authorization") != c.r.Headers.Get("Authorization"):
			t.warn(c.p, "routes.%s is ignored: its Authorization header is not that of the other registrations", r.Name)
			continue
		}
		if add(c.r) {
			t.warn(c.p, "routes.%s is ignored: the maximum is %d upstreams", r.Name, maxReplicas)
		}
	}
	if len(urls) == len(r.endpoints()) {
		return r
	}
	return r.at(urls)
}

// credentials is the route with the Authorization header of a registration, if it has one.
func (r *Route) credentials(h http.Header) *Route {
	v := h["Authorization"]
	if v == nil {
		return r
	}
	n := *r
	if n.Headers = maps.Clone(r.Headers); n.Headers == nil {
		n.Headers = http.Header{}
	}
	n.Headers["Authorization"] = v
	return &n
}

// sameButAddress reports whether two routes differ in nothing but where their agent is, so that both lead to one.
func sameButAddress(a, b *Route) bool {
	if len(a.endpoints()) == 0 || len(b.endpoints()) == 0 || a.OAuth != nil {
		return false
	}
	x, y := *a, *b
	for _, r := range []*Route{&x, &y} {
		if r.HostPort != 0 {
			r.Transport = HTTP
		}
		r.HostPort, r.URL, r.URLs, r.Shared = 0, nil, nil, false
	}
	return x.Equal(&y)
}
