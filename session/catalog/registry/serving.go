package registry

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
)

// transports are ours by the names of descriptions.
var transports = map[string]string{"streamable-http": config.HTTP, "streamable": config.HTTP, "http": config.HTTP, "sse": config.SSE}

// namedPart is one that goes by a name in the URL of a package: an argument or a variable.
type namedPart struct {
	name string
	part
}

// serving is the URL that a package serves by itself, once it is started.
type serving struct {
	transport string
	raw       string
	pieces    []func(setup.Values) (string, error)
}

// serving reads the transport of a package. What is in braces in its URL is declared there, or is the value of an argument, by its
// name or its hint, or of a variable of the environment, or of a variable in the value of one.
func (f *form) serving(t Remote, known []namedPart) (*serving, error) {
	s := &serving{transport: transports[strings.ToLower(t.Type)], raw: t.URL}
	switch {
	case s.transport == "":
		return nil, fmt.Errorf("the transport %q is not known", text.Clip(t.Type, 40))
	case len(t.Headers) > 0:
		return nil, errors.New("it serves a URL that wants headers: start it and open that URL")
	}
	if err := checkRemote(t.URL, nil); err != nil {
		return nil, err
	}
	if u, err := url.Parse(braces.ReplaceAllString(t.URL, "1")); err == nil && !strings.Contains(hostPart(t.URL), "{") && listen.ReachOf(u) != listen.Machine {
		return nil, errElsewhere(t.URL)
	}
	at := 0
	for _, m := range braces.FindAllStringSubmatchIndex(t.URL, -1) {
		value, err := f.urlValue(t.URL[m[2]:m[3]], t, known)
		if err != nil {
			return nil, err
		}
		before := t.URL[at:m[0]]
		s.pieces = append(s.pieces, func(setup.Values) (string, error) { return before, nil }, value)
		at = m[1]
	}
	rest := t.URL[at:]
	s.pieces = append(s.pieces, func(setup.Values) (string, error) { return rest, nil })
	return s, nil
}

// urlValue is the value that a name in the URL stands for.
func (f *form) urlValue(name string, t Remote, known []namedPart) (func(setup.Values) (string, error), error) {
	p := part{}
	if in, ok := t.Variables[name]; ok {
		p = f.template("{"+name+"}", map[string]Input{name: in}, true, false, false)
	} else if found := partOf(name, known); found != nil {
		p = *found
	} else if in := f.input(name); in != "" {
		p = part{pieces: []string{"", in, ""}}
	} else {
		return nil, fmt.Errorf("its URL has {%s}, which nothing declares", text.Clip(name, 60))
	}
	return func(given setup.Values) (string, error) {
		values, err := p.values(given)
		if err == nil && len(values) == 0 {
			err = &setup.Invalid{Name: name, Why: "has no value, and the URL of the server has it in it"}
		}
		if err != nil {
			return "", err
		}
		return values[0], nil
	}, nil
}

func partOf(name string, known []namedPart) *part {
	for _, exact := range []bool{true, false} { // {--port} and {port} are both written
		for i, k := range known {
			if k.name == name || !exact && strings.TrimLeft(k.name, "-") == name {
				return &known[i].part
			}
		}
	}
	return nil
}

func errElsewhere(raw string) error {
	return fmt.Errorf("it says that it serves %q, which is not on this machine", text.Clip(raw, 100))
}

// hostPart is the host of a URL that may not be one yet, without its port.
func hostPart(raw string) string {
	_, rest, _ := strings.Cut(raw, "://")
	host, _, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	return host
}

// input is the name of an input as it is in the list, "" for none.
func (f *form) input(name string) string {
	for _, i := range f.inputs {
		if i.Name == name {
			return name
		}
	}
	return ""
}

// url is what to contact with these values.
func (s *serving) url(given setup.Values) (string, error) {
	var b strings.Builder
	for _, piece := range s.pieces {
		v, err := piece(given)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
	}
	u, err := url.Parse(b.String())
	if err != nil {
		return b.String(), nil // checked later
	}
	switch u.Hostname() { // addresses to listen at, and not to connect to
	case "0.0.0.0":
		u.Host = "127.0.0.1:" + listen.PortOf(u)
	case "::":
		u.Host = "[::1]:" + listen.PortOf(u)
	}
	return u.String(), nil
}

// servedHere refuses a URL that a package cannot serve, which runs on this machine.
func servedHere(raw string) error {
	if err := checkRemote(raw, nil); err != nil {
		return err
	}
	if u, err := url.Parse(raw); err != nil || listen.ReachOf(u) != listen.Machine {
		return errElsewhere(raw)
	}
	return nil
}
