package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// unset finds the variable that a problem of an entry is about.
var unset = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:environment variable|\$\{input:) ?(\S+?)\}? is not set`)
})

// problems are what is wrong with the entry: the sentence about each variable that is not set, by its name, and the rest.
func (r *run) problems() (variables map[string]string, rest []string) {
	variables = map[string]string{}
	if r.server.Problem == nil {
		return variables, nil
	}
	all := []string{r.server.Problem.Error()}
	var e *config.EntryError
	if errors.As(r.server.Problem, &e) {
		all = e.Problems
	}
	for _, p := range all {
		if m := unset().FindStringSubmatch(p); m != nil {
			variables[m[1]] = p
			continue
		}
		rest = append(rest, p)
	}
	return variables, rest
}

// config is where the entry comes from, and what is wrong with it. It decides whether anything is started at all: r.blocked says why
// not, and the stages that need an entry go by it. An entry that is not trusted is never run, not even for its version.
func (r *run) config(s *Step) {
	from := r.server.Source
	s.add(from.String() + dialect(from))
	if r.server.Command != "" {
		s.add("runs: " + r.commandLine())
		if r.server.Cwd != "" {
			s.add("in: " + r.server.Cwd)
		}
	} else if r.server.URL != "" {
		s.add("connects to: " + mask.URL(r.server.URL) + " (" + config.TransportName(cmp.Or(r.server.Transport, config.Auto)) + ")")
	}
	for _, also := range r.server.Also {
		s.add("the same in " + also.String())
	}
	variables, rest := r.problems()
	switch {
	case len(rest) > 0:
		s.fail(r.startFailureKind(), rest[0], "correct "+from.String())
		s.add(rest[1:]...)
		r.blocked = "the entry cannot be started as it is"
		return
	case len(variables) > 0:
		r.blocked = "the entry cannot be started without its variables"
	case from.NeedsTrust() && !r.opts.Session.Trust.Trusted(r.server):
		s.fail(failure.ServerDisabled, "not trusted yet: somebody else may have written it", "read what it runs, and trust it in the list of servers")
		s.Remedy = failure.TrustServer
		r.blocked = "an entry that is not trusted is not started"
		return
	}
	if remote(r.server) && r.blocked == "" {
		var err error
		if r.network, err = transport.NewNetwork(r.server); err != nil {
			s.setError(err)
			r.blocked = "the entry cannot be used as it is"
			return
		}
	}
	if r.target.Server.Disabled {
		s.warn("the entry is disabled; it is started for this diagnosis only", "enable it in "+from.String())
	}
	for _, w := range r.target.Warnings {
		s.warn(w.String(), "correct "+w.File)
	}
}

// startFailureKind is the kind of failure of an entry that cannot be started.
func (r *run) startFailureKind() failure.Kind {
	if remote(r.server) {
		return failure.Transport
	}
	return failure.SpawnFailed
}

// dialect is the kind of file that an entry comes from, in brackets.
func dialect(s config.Source) string {
	if s.Dialect == "" {
		return ""
	}
	return " (" + s.Dialect + ")"
}

// WarningsOf are those of a set that are about an entry, or about its file as a whole.
func WarningsOf(set config.Set, s config.Server) (out []config.Warning) {
	for _, w := range set.Warnings {
		// config writes "server NAME: …" about one entry, with the name quoted.
		about, named := strings.CutPrefix(w.Message, "server ")
		if w.File == s.Source.File && (!named || strings.HasPrefix(about, fmt.Sprintf("%q", cmp.Or(s.Given, s.Name)))) {
			out = append(out, w)
		}
	}
	return out
}

// commandLine is what is started, secrets masked.
func (r *run) commandLine() string {
	shown := r.server.Masked()
	words := append([]string{shown.Command}, shown.Args...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\") {
			words[i] = fmt.Sprintf("%q", w)
		}
	}
	return strings.Join(words, " ")
}

// variables are those that the entry needs and sets, by name; of headers as well, whose values are as secret.
func (r *run) variables(s *Step) {
	missing, _ := r.problems()
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		s.add(missing[name])
		s.Remedy, s.Object = failure.SetVariable, name
	}
	if len(missing) > 0 {
		names := slices.Sorted(maps.Keys(missing))
		said := s.Evidence
		s.Evidence = nil
		s.fail(r.startFailureKind(), "not set: "+strings.Join(names, ", "), "set "+strings.Join(names, ", ")+" in the environment that mcphud is started from")
		s.add(said...)
		return
	}
	var empty []string // secrets without a value, and values that a manual asks to replace
	for _, of := range []map[string]string{r.server.Env, r.server.Headers} {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			v := of[name]
			switch {
			case strings.TrimSpace(v) == "" && mask.Secret(name):
				empty = append(empty, name)
			case placeholder(v):
				empty = append(empty, name)
			default:
				s.add(name + " = " + mask.Value(name, v))
			}
		}
	}
	switch {
	case len(empty) > 0:
		s.warn("without a real value: "+strings.Join(empty, ", "), "give "+strings.Join(empty, ", ")+" a value")
	case len(s.Evidence) == 0:
		s.add("none is needed or set by the entry")
	default:
		s.Evidence = append([]string{fmt.Sprintf("%d set by the entry", len(s.Evidence))}, s.Evidence...)
	}
	if v, sets := r.server.Env["PATH"]; sets && r.server.Command != "" && os.Getenv("PATH") != v {
		s.add("PATH of the entry is used instead of that of mcphud")
	}
}

// placeholders matches values that a manual asks to replace.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:bearer|token) )?(?:<[^>]+>|\[[^\]]*(?:key|token)[^\]]*\]|your[-_ ].+|xxx+|\.\.\.|changeme|replace[-_ ]?me|\$\{[^}]*\}|\$[A-Z][A-Z0-9_]+)$`)
})

// placeholder reports whether a value was taken over from a manual, with which no server works.
func placeholder(v string) bool { return placeholders().MatchString(strings.TrimSpace(v)) }
