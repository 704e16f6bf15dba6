package config

import (
	"maps"
	"reflect"

	"github.com/mcphud/mcphud/session/config/setup"
)

// pending is an entry that still has to be told something.
type pending struct {
	entry    *entry
	options  Options
	settings Settings
	given    setup.Values // so far
}

// Fill is s with the values of its Inputs. Those that v does not have are still there. What else was changed since s was read stays
// changed.
func (s Server) Fill(v setup.Values) Server {
	p := s.pending
	if p == nil {
		return s
	}
	all := maps.Clone(p.given)
	if all == nil {
		all = setup.Values{}
	}
	maps.Copy(all, v)
	was, is := p.entry.resolve(p.options, p.settings, p.given), p.entry.resolve(p.options, p.settings, all)
	out := s
	out.Inputs, out.pending, out.Problem, out.secrets, out.variables = is.Inputs, is.pending, is.Problem, is.secrets, is.variables
	out.Args, out.HeadersHelper = is.Args, is.HeadersHelper
	out.Env, out.Headers = fillChanged(s.Env, was.Env, is.Env), fillChanged(s.Headers, was.Headers, is.Headers)
	for _, f := range [][3]*string{
		{&out.Command, &was.Command, &is.Command},
		{&out.URL, &was.URL, &is.URL},
		{&out.Cwd, &was.Cwd, &is.Cwd},
		{&out.Proxy, &was.Proxy, &is.Proxy},
		{&out.CA, &was.CA, &is.CA},
		{&out.ClientCert, &was.ClientCert, &is.ClientCert},
		{&out.ClientKey, &was.ClientKey, &is.ClientKey},
	} {
		if *f[0] == *f[1] {
			*f[0] = *f[2]
		}
	}
	if reflect.DeepEqual(s.Sandbox, was.Sandbox) {
		out.Sandbox = is.Sandbox
	}
	if n := len(was.Roots); n <= len(s.Roots) {
		out.Roots = append(is.Roots, s.Roots[n:]...)
	}
	if reflect.DeepEqual(s.OAuth, was.OAuth) {
		out.OAuth = is.OAuth
	}
	if bad, ok := out.Problem.(*EntryError); ok {
		bad.Server = s.Name
	}
	return out
}

// fillChanged is have with the values that differ between was and is, where have does not differ from was.
func fillChanged(have, was, is map[string]string) map[string]string {
	out := maps.Clone(have)
	for k, v := range is {
		if have[k] == was[k] {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	return out
}

// InputScope is what secrets among the inputs belong to where they are kept: the entry, and in a file of the working folder exactly
// this content of it, so that a changed entry is not given what another one was told.
func (s Server) InputScope() string {
	scope := s.Source.File + "#" + s.givenName()
	if s.Source.Project {
		scope += "@" + s.Fingerprint()
	}
	return scope
}
