package main

import (
	"os"
	"strings"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
)

// sandboxFlag is what --sandbox allows the server, each time that it is given.
type sandboxFlag struct {
	rules *confine.Rules // nil where it was not given
	words []string
}

func (f *sandboxFlag) String() string { return strings.Join(f.words, " ") }

// Set adds what one word allows.
func (f *sandboxFlag) Set(word string) error {
	if f.rules == nil {
		f.rules = &confine.Rules{}
	}
	f.words = append(f.words, word)
	return f.rules.Add(word)
}

func (f *sandboxFlag) Type() string { return "ALLOW" }

// shut puts s into a sandbox, if the flag asks for one: what its entry's allows stays allowed, and nothing more than that and the flag.
func (f *sandboxFlag) shut(s *config.Server) error {
	if f.rules == nil {
		return nil
	}
	if s.Command == "" {
		return usageError("--sandbox does not apply to "+s.Name+", a server that is reached by its URL", "leave it out")
	}
	home, _ := os.UserHomeDir() // without one, ~ is a name
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	all := s.Sandbox.Clone()
	if all == nil {
		all = &confine.Rules{}
	}
	more := f.rules.Clone()
	more.Resolve(folder, home)
	all.Read, all.Write, all.Network = append(all.Read, more.Read...), append(all.Write, more.Write...), all.Network || more.Network
	if s.Launch && !all.Network {
		return usageError("the sandbox of "+s.Name+" has no network, and it is started to serve a URL", "write --sandbox=network")
	}
	s.Sandbox = all
	return nil
}
