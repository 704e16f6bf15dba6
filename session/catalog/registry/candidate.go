package registry

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
)

// Candidate is one way to reach a server that is described: a remote, or a package that something on this machine runs.
type Candidate struct {
	Title   string // "npm @scope/name@1.2.3 by npx"
	Kind    string // npm, pypi, oci, nuget, mcpb … or remote
	Number  int    // in its list of the description, from 1
	Inputs  []setup.Input
	Missing string // what is not on this machine, and how to get it; "" for nothing
	// Refused is why there is no such way here, nil where there is.
	Refused error
	// Warnings are what to know before starting it.
	Warnings []string
	// After is what its publisher says to do once it is installed: shown, never run.
	After []Instruction
	// Bundle is what to download and unpack instead of a Server; nil for none.
	Bundle *Bundle

	make  func(setup.Values) (config.Server, error)
	check func(config.Server) error // of what was made; nil for none
	// options are the warnings of the runner's own options with these values; nil for none.
	options func(setup.Values) []string
}

// Bundle is an .mcpb file to download, and what its content must hash to.
type Bundle struct{ URL, SHA256 string }

// Remote reports whether nothing runs on this machine.
func (c Candidate) Remote() bool { return c.Kind == remoteKind }

const remoteKind = "remote"

// Server is what starts or contacts the server with these values. Nothing of it goes through a shell.
func (c Candidate) Server(given setup.Values) (config.Server, error) {
	if c.Refused != nil {
		return config.Server{}, c.Refused
	}
	s, err := config.FromValues(c.Inputs, given, c.make)
	if err != nil {
		return s, err
	}
	if c.check != nil {
		err = c.check(s)
	}
	return s, err
}

// Candidates are the ways to reach the server, those that can be taken here first. look reports whether a command is on this machine.
func (d *Document) Candidates(look func(command string) bool) []Candidate {
	var out []Candidate
	for i, r := range d.Remotes {
		out = append(out, d.remote(r, i+1))
	}
	for i, p := range d.Packages {
		out = append(out, d.packageCandidate(p, i+1, look))
	}
	rank := func(c Candidate) int {
		switch {
		case c.Refused != nil:
			return 3
		case c.Missing != "":
			return 2
		case c.Remote() && strings.Contains(c.Title, "(SSE)"):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return rank(a) - rank(b) })
	return out
}

// shortName is what to call the server: the name without its namespace.
func (d *Document) shortName() string {
	_, name, _ := strings.Cut(d.Name, "/")
	return name
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (d *Document) remote(r Remote, number int) Candidate {
	c := Candidate{Kind: remoteKind, Number: number, Title: "remote " + text.Clip(r.URL, 200)}
	transport := transports[strings.ToLower(r.Type)]
	switch transport {
	case "":
		c.Refused = fmt.Errorf("the transport %q is not known", text.Clip(r.Type, 40))
		return c
	case config.SSE:
		c.Title += " (SSE)"
	}
	if c.Refused = checkRemote(r.URL, r.Variables); c.Refused != nil {
		return c
	}
	if u, err := url.Parse(r.URL); err == nil {
		switch {
		case u.Scheme == "http" && listen.ReachOf(u) == listen.Anywhere:
			c.Warnings = append(c.Warnings, "the connection is not encrypted: anyone on the way can read and change it")
		case listen.ReachOf(u) != listen.Anywhere:
			c.Warnings = append(c.Warnings, u.Host+" is a program of this machine or its network")
		}
	}
	f := &form{}
	address := f.template(r.URL, r.Variables, true, false, false)
	headers := make([]part, len(r.Headers))
	for i, h := range r.Headers {
		if !headerName.MatchString(h.Name) {
			c.Refused = fmt.Errorf("%q is not the name of a header", text.Clip(h.Name, 60))
			return c
		}
		h.Repeated = false
		headers[i] = f.part(h, h.Name)
	}
	c.Inputs = f.inputs
	c.make = func(given setup.Values) (config.Server, error) {
		s := config.Server{Name: d.shortName(), Transport: transport}
		urls, err := address.values(given)
		if err != nil || len(urls) == 0 {
			return s, fmt.Errorf("the URL %s lacks a value", text.Clip(r.URL, 100))
		}
		s.URL = urls[0]
		for i, h := range headers {
			values, err := h.values(given)
			switch {
			case err != nil:
				return s, err
			case len(values) == 0:
				continue
			}
			if s.Headers == nil {
				s.Headers = map[string]string{}
			}
			s.Headers[r.Headers[i].Name] = values[0]
		}
		return s, nil
	}
	c.check = func(s config.Server) error {
		for name, v := range s.Headers {
			if strings.ContainsAny(v, "\r\n\x00") {
				return &setup.Invalid{Name: name, Why: "has a line end, which a header cannot have"}
			}
		}
		return checkRemote(s.URL, nil)
	}
	return c
}

// checkRemote refuses what is not a plain http URL. One that begins with a variable is looked at once that is given.
func checkRemote(raw string, variables map[string]Input) error {
	if m := braces.FindStringSubmatch(raw); m != nil && strings.HasPrefix(raw, m[0]) {
		if _, ok := variables[m[1]]; ok {
			return nil
		}
	}
	plain := braces.ReplaceAllString(raw, "1") // which can stand for a port as well
	u, err := url.Parse(plain)
	if err != nil || len(raw) > 4000 || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return fmt.Errorf("%q is not an http URL without credentials", text.Clip(raw, 100))
	}
	return nil
}

func (d *Document) packageCandidate(p Package, number int, look func(string) bool) Candidate {
	c := Candidate{Kind: p.Type, Number: number, Title: text.Clip(strings.TrimSpace(p.Type+" "+p.Identifier), 200), After: p.After}
	if p.Type == "mcpb" {
		return d.bundleCandidate(c, p)
	}
	r, ok := runnerOf(p.Type)
	if !ok {
		c.Refused = fmt.Errorf("no program is known that runs packages of the kind %q", text.Clip(p.Type, 40))
		return c
	}
	spec, warning, err := r.spec(p)
	if err != nil {
		c.Refused = err
		return c
	}
	c.warn(warning)
	source, warning, err := r.source(p.BaseURL)
	if err != nil {
		c.Refused = err
		return c
	}
	c.warn(warning)
	command, missing := r.find(p.Hint, look)
	c.Missing, c.Title = missing, text.Clip(p.Type+" "+spec, 200)+" by "+command
	f := &form{}
	env := make([]part, len(p.Env))
	var parts []namedPart
	for i, e := range p.Env {
		if e.Name == "" || strings.ContainsAny(e.Name, "=\x00 \t\r\n") || e.Name[0] == '-' {
			c.Refused = fmt.Errorf("%q is not the name of a variable", text.Clip(e.Name, 60))
			return c
		}
		e.Repeated = false
		env[i] = f.part(e, e.Name)
		parts = append(parts, namedPart{e.Name, env[i]})
		c.warn(loaderWarning(e.Name))
	}
	runArgs := p.RunArgs
	if r.kind == "oci" {
		runArgs = withoutRun(runArgs, p, spec)
	}
	before, after := f.arguments(runArgs, r.bare), f.arguments(p.Args, nil)
	var serves *serving // nil where it speaks over its pipes
	if t := p.Transport; t.Type != "" && t.Type != config.Stdio {
		for _, a := range slices.Concat(before, after) {
			if !a.bare {
				parts = append(parts, namedPart{a.flag, a.part}, namedPart{a.hint, a.part})
			}
		}
		if serves, c.Refused = f.serving(t, parts); c.Refused != nil {
			return c
		}
		c.Title += ", at " + text.Clip(t.URL, 200)
	}
	c.Inputs = f.inputs
	var own []string
	for _, e := range p.Env {
		own = append(own, e.Name)
	}
	inputs := c.Inputs
	c.options = func(given setup.Values) []string {
		list, err := words(before, supposedValues(inputs, given))
		if err != nil {
			return []string{"its options for " + command + " cannot be read: " + err.Error()}
		}
		return r.warnings(command, list, own)
	}
	defaults, _ := setup.Read(inputs, nil) // what is missing is typed later
	c.Warnings = c.WarningsFor(defaults)
	c.make = func(given setup.Values) (config.Server, error) {
		s := config.Server{Name: d.shortName(), Transport: config.Stdio}
		set := func(name, value string) {
			if s.Env == nil {
				s.Env = map[string]string{}
			}
			s.Env[name] = value
		}
		var names []string
		for i, e := range env {
			values, err := e.values(given)
			if err != nil {
				return s, err
			}
			if len(values) > 0 {
				names = append(names, p.Env[i].Name)
				set(p.Env[i].Name, values[0])
			}
		}
		list := before
		if r.kind == "oci" {
			list = nil
			for _, a := range before { // a secret in the environment of a container is not for the list of processes
				values, err := a.values(given)
				if err != nil {
					return s, err
				}
				if name, value, ok := secretVariable(a, values); ok {
					names = append(names, name)
					set(name, value)
					continue
				}
				list = append(list, a)
			}
		}
		first, err := words(list, given)
		if err != nil {
			return s, err
		}
		rest, err := words(after, given)
		if err != nil {
			return s, err
		}
		argv := r.argv(command, spec, source, first, rest, names)
		s.Command, s.Args = argv[0], argv[1:]
		if serves != nil {
			s.Transport, s.Launch = serves.transport, true
			s.URL, err = serves.url(given)
		}
		return s, err
	}
	c.check = func(s config.Server) error {
		if serves == nil {
			return nil
		}
		return servedHere(s.URL)
	}
	return c
}

func (c *Candidate) warn(w string) {
	if w != "" && !slices.Contains(c.Warnings, w) {
		c.Warnings = append(c.Warnings, w)
	}
}

var sha256Hex = regexp.MustCompile(`^[a-fA-F0-9]{64}$`)

// bundleCandidate is a package that is downloaded as a file.
func (d *Document) bundleCandidate(c Candidate, p Package) Candidate {
	u, err := url.Parse(p.Identifier)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || listen.ReachOf(u) != listen.Machine):
		c.Refused = fmt.Errorf("%q is not an https URL of a bundle", text.Clip(p.Identifier, 100))
	case !sha256Hex.MatchString(p.SHA256):
		c.Refused = fmt.Errorf("the bundle at %s has no SHA-256 to check it by", text.Clip(p.Identifier, 100))
	}
	c.Bundle = &Bundle{p.Identifier, strings.ToLower(p.SHA256)}
	c.make = func(setup.Values) (config.Server, error) {
		return config.Server{}, fmt.Errorf("%s is a bundle: it is opened as a file", text.Clip(p.Identifier, 100))
	}
	return c
}
