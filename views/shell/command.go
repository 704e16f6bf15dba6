// Package shell writes what is copied to be pasted into a shell: mcphud and curl commands.
package shell

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// Invocation is a subcommand of mcphud with what it is given; the zero value opens the UI.
type Invocation struct {
	Verb     string   // "tools call"
	Operands []string // in order; a server may have named them
	Flags    []string // "--args", "{}"
}

// On is the command line for a server, secrets masked. An operand that begins with a dash is an error, since the command
// would read it as a flag: a server could so name a file to write.
func (i Invocation) On(srv config.Server) (string, error) {
	words := []string{"mcphud"}
	if i.Verb != "" {
		words = append(words, i.Verb)
	}
	for _, o := range i.Operands {
		if strings.HasPrefix(o, "-") {
			return "", fmt.Errorf("cannot copy the command: it would read %s as a flag, because it begins with a dash", safe.Line(o, 60))
		}
		words = append(words, safe.Quote(o))
	}
	for _, f := range i.Flags {
		words = append(words, safe.Quote(f))
	}
	return strings.Join(append(words, target(srv)...), " "), nil
}

// target is how a command names a server.
func target(srv config.Server) (words []string) {
	if srv.Source.File != "" {
		return []string{"--server", safe.Quote(srv.Name)}
	}
	m := srv.Masked()
	if m.Protocol != "" && m.Protocol != "auto" {
		words = append(words, "--protocol", safe.Quote(m.Protocol))
	}
	for k, v := range Sorted(m.Headers) {
		words = append(words, "-H", safe.Quote(k+": "+v))
	}
	for k, v := range Sorted(m.Env) {
		words = append(words, "-e", safe.Quote(k+"="+v))
	}
	if m.Cwd != "" {
		words = append(words, "--cwd", safe.Quote(m.Cwd))
	}
	if m.Sandbox != nil {
		for _, w := range m.Sandbox.Words() {
			if w == "true" {
				words = append(words, "--sandbox")
			} else {
				words = append(words, safe.Quote("--sandbox="+w))
			}
		}
	}
	words = append(words, network(m, [5]string{"--proxy", "--ca", "--client-cert", "--client-key", "--insecure"})...)
	if m.Command == "" {
		return append(words, "--url", safe.Quote(m.URL))
	}
	words = append(words, "--", safe.Quote(m.Command))
	for _, a := range m.Args {
		words = append(words, safe.Quote(a))
	}
	return words
}

// network is what a command says of how a server is reached: proxy, CA, certificate, its key, and that nothing is checked.
func network(m config.Server, flags [5]string) (words []string) {
	for i, value := range []string{m.Proxy, m.CA, m.ClientCert, m.ClientKey} {
		if value != "" {
			words = append(words, flags[i], safe.Quote(value))
		}
	}
	if m.Insecure {
		words = append(words, flags[4])
	}
	return words
}

// Sorted walks a map in the order of its keys.
func Sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
