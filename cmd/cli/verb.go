package cli

import (
	"path"
	"slices"

	"github.com/spf13/cobra"
)

// Verb is a command at the top of a command line, as its family registers it: what it is made by, and what it shares with others.
type Verb struct {
	Name string // the first word of its Use
	Make func() *cobra.Command

	Client bool // it only talks to one server: a command line about it is read without the other verbs, which take longer to make than it runs
	Judged bool // it takes --expect and the other assertions
	Child  bool // a stack runs it: it takes --supervised
	Screen bool // it opens a full screen, for which --linear is

	// Guarded are those of its commands that --yes and --read-only are for, named as in Inherits.
	Guarded []string

	// Silent are those of its commands that print no answer, named as in Inherits: --select and --max-bytes are not for them.
	Silent []string

	// Inherits says which of the flags that all commands share it and its commands take: of each the first row that fits. Where none does
	// it takes all of them.
	Inherits []Inherit
}

// Inherit are the shared flags that a command takes. All take --format, and --select and --max-bytes unless they are Silent.
type Inherit struct {
	Of   string   // "" for the verb, a pattern as in [path.Match] for those below it: "list", "*", "*/*"
	Keep []string // the names of flags; nil for none
	All  bool     // all of them
}

// What Verb says of commands, as annotations of these.
const (
	screenKey  = "screen"
	guardedKey = "guarded"
)

// Add makes a verb a command of root, whose flags are registered.
func (a *App) Add(root *cobra.Command, v Verb) *cobra.Command {
	c := v.Make()
	root.AddCommand(c)
	if v.Judged {
		a.Options.Expected.Register(c)
	}
	if v.Screen {
		annotate(c, screenKey)
	}
	v.below(c, "")
	if v.Child {
		a.supervisable(c)
	}
	return c
}

// below does for a command, and those below it, what the verb says of them. name is as in Inherit.
func (v Verb) below(c *cobra.Command, name string) {
	for _, i := range v.Inherits {
		if fits, _ := path.Match(i.Of, name); fits && (name != "" || i.Of == "") { // patterns are constants
			if !i.All {
				hideInherited(c, func(flag string) bool { return !slices.Contains(printedFlags, flag) && !slices.Contains(i.Keep, flag) })
			}
			break
		}
	}
	if slices.Contains(v.Silent, name) {
		hideInherited(c, func(flag string) bool { return flag != "format" && slices.Contains(printedFlags, flag) })
	}
	if slices.Contains(v.Guarded, name) {
		annotate(c, guardedKey)
	}
	for _, sub := range c.Commands() {
		v.below(sub, path.Join(name, sub.Name()))
	}
}

func annotate(c *cobra.Command, key string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = "true"
}
