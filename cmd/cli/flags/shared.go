package flags

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// Choice is a flag whose value is one of a list.
type Choice struct {
	Value   *string
	Allowed []string
}

func (c *Choice) String() string {
	if c.Value == nil {
		return ""
	}
	return *c.Value
}

// Set implements [pflag.Value].
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.Allowed, ", "))
	}
	*c.Value = s
	return nil
}

// Type implements [pflag.Value].
func (c *Choice) Type() string { return "string" }

// Metadata is what goes into _meta of every request.
type Metadata struct {
	words []string
	JSON  json.RawMessage // the object of them
}

func (m *Metadata) String() string { return strings.Join(m.words, " ") }

// Set adds one member.
func (m *Metadata) Set(text string) (err error) {
	words := append(slices.Clone(m.words), text)
	meta, err := session.ParseMeta(words)
	if err == nil {
		m.words, m.JSON = words, meta
	}
	return err
}

// Type implements [pflag.Value].
func (m *Metadata) Type() string { return "KEY=VALUE" }

// Size is a number of bytes: 65536, 512KiB, 64MiB.
type Size int64

func (s *Size) String() string {
	n := int64(*s)
	for _, u := range []struct {
		n    int64
		unit string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.n && n%u.n == 0 {
			return fmt.Sprintf("%d%s", n/u.n, u.unit)
		}
	}
	return fmt.Sprint(n)
}

// Set implements [pflag.Value].
func (s *Size) Set(text string) error {
	n, err := config.ParseSize(text)
	if err != nil {
		return err
	}
	if n <= 0 {
		return fmt.Errorf("must be more than 0")
	}
	*s = Size(n)
	return nil
}

// Type implements [pflag.Value].
func (s *Size) Type() string { return "SIZE" }

// Sandbox is what --sandbox allows the server, each time that it is given.
type Sandbox struct {
	rules *confine.Rules // nil where it was not given
	words []string
}

func (f *Sandbox) String() string { return strings.Join(f.words, " ") }

// Set adds what one word allows.
func (f *Sandbox) Set(word string) error {
	if f.rules == nil {
		f.rules = &confine.Rules{}
	}
	f.words = append(f.words, word)
	return f.rules.Add(word)
}

// Type implements [pflag.Value].
func (f *Sandbox) Type() string { return "ALLOW" }

// Shut puts s into a sandbox, if the flag asks for one: what its entry's allows stays allowed, and nothing more than that and the flag.
func (f *Sandbox) Shut(s *config.Server) error {
	if f.rules == nil {
		return nil
	}
	if s.Command == "" {
		return failure.UsageError("--sandbox does not apply to "+s.Name+", a server that is reached by its URL", "leave it out")
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
		return failure.UsageError("the sandbox of "+s.Name+" has no network, and it is started to serve a URL", "write --sandbox=network")
	}
	s.Sandbox = all
	return nil
}
