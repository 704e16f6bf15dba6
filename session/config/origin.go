package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config/setup"
)

// origin is what values for the inputs of a published description made a server, and the same as it may be shown.
type origin struct{ is, shown Server }

// FromValues is the server that build makes of values for inputs that somebody published. Trust in it holds until anything but a secret
// changes that somebody typed. Those are masked, and nothing else is: what the publisher wrote is public, and may be what runs.
func FromValues(in []setup.Input, given setup.Values, build func(setup.Values) (Server, error)) (Server, error) {
	s, err := build(given)
	if err != nil {
		return s, err
	}
	var secrets []string
	shape, err := build(given.Replace(in, func(i setup.Input, v string) string {
		if !i.Secret {
			return v
		}
		secrets = append(secrets, v)
		return "\x00" + i.Name // which nobody can write into a value
	}))
	if err != nil {
		return s, err
	}
	shown, err := build(given.Replace(in, func(i setup.Input, v string) string {
		if i.Secret || mask.Secret(i.Name) {
			return mask.Hidden
		}
		return mask.Text(v)
	}))
	if err != nil {
		return s, err
	}
	shown.URL = withHost(shown.URL, s.URL)
	s.written, s.secrets, s.origin = shape.fingerprint(), secrets, &origin{s, shown}
	return s, nil
}

// withHost is a URL in which values are masked, with the host of the real one: whom a server contacts is never hidden.
func withHost(masked, real string) string {
	u, err := url.Parse(real)
	if err != nil || u.Host == "" {
		return masked
	}
	rest := masked
	if _, after, ok := strings.Cut(masked, "://"); ok {
		rest = after
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	base := u.Scheme + "://" + u.Host
	if authority == mask.Hidden && !strings.HasPrefix(real[min(len(real), len(base)):], path) {
		path = "/" + mask.Hidden + path // the value went on behind the host
	}
	return base + path
}

// show puts what may be shown into masked, wherever sent is still as it was made.
func (t *origin) show(sent Server, masked *Server) {
	if t == nil {
		return
	}
	if sent.Command == t.is.Command {
		masked.Command = t.shown.Command
	}
	if t.args(sent) {
		masked.Args = slices.Clone(t.shown.Args)
	}
	if sent.URL == t.is.URL {
		masked.URL = t.shown.URL
	}
	for k, v := range sent.Env {
		if t.env(k, v) {
			masked.Env[k] = orHidden(t.shown.Env, k)
		}
	}
	for k, v := range sent.Headers {
		if was, ok := t.is.Headers[k]; ok && was == v {
			masked.Headers[k] = orHidden(t.shown.Headers, k)
		}
	}
	masked.origin = &origin{*masked, *masked} // without what is hidden, and not to be masked further
	masked.origin.is.origin, masked.origin.shown.origin = nil, nil
}

func (t *origin) args(sent Server) bool { return t != nil && slices.Equal(sent.Args, t.is.Args) }

func (t *origin) env(name, value string) bool {
	if t == nil {
		return false
	}
	was, ok := t.is.Env[name]
	return ok && was == value
}

// orHidden is a value of m; one whose very name was typed is not in it.
func orHidden(m map[string]string, name string) string {
	if v, ok := m[name]; ok {
		return v
	}
	return mask.Hidden
}
