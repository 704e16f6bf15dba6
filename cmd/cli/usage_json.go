package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/session/base/failure"
)

// HelpDocument is help as JSON, of the whole program or of a command and those below it.
type HelpDocument struct {
	Version string `json:"version"`
	// Verbs are all commands; the first of the whole program is mcphud itself, whose path is empty.
	Verbs []ListedVerb `json:"verbs"`
	// GlobalFlags are those that several verbs share; each verb names those that it takes.
	GlobalFlags []ListedFlag `json:"globalFlags"`
	ExitCodes   []Exit       `json:"exitCodes"`
	ErrorKinds  []ListedKind `json:"errorKinds"`
}

// ListedVerb is a command of a HelpDocument.
type ListedVerb struct {
	Path     string       `json:"path"` // such as tools call
	Group    string       `json:"group,omitempty"`
	About    string       `json:"about"`
	Usage    string       `json:"usage"`
	Flags    []ListedFlag `json:"flags,omitempty"` // of its own
	Global   []string     `json:"global,omitempty"`
	Examples []string     `json:"examples,omitempty"`
}

// ListedFlag is a flag of a HelpDocument.
type ListedFlag struct {
	Name       string   `json:"name"`
	Short      string   `json:"shorthand,omitempty"`
	Type       string   `json:"type"`            // boolean, integer, number, duration, size or string
	Value      string   `json:"value,omitempty"` // what stands for its value: FILE
	Allowed    []string `json:"allowed,omitempty"`
	Default    string   `json:"default,omitempty"`
	Repeatable bool     `json:"repeatable,omitempty"`
	About      string   `json:"about"`
}

// ListedKind is a kind of error of a HelpDocument.
type ListedKind struct {
	Kind     failure.Kind `json:"kind"`
	Meaning  string       `json:"meaning"`
	ExitCode int          `json:"exitCode"`
}

// Help is what help says of a command and those below it, as data.
func (a *App) Help(c *cobra.Command) HelpDocument {
	doc := HelpDocument{Version: Version(), ExitCodes: Exits}
	for _, k := range failure.Kinds {
		doc.ErrorKinds = append(doc.ErrorKinds, ListedKind{k.Kind, k.Meaning, ExitCodes[k.Kind]})
	}
	a.list(c, &doc)
	return doc
}

// list adds a command, and those below it.
func (a *App) list(c *cobra.Command, doc *HelpDocument) {
	v := ListedVerb{Path: strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), a.Root.Name()), " "), About: c.Short}
	if c.Long != "" {
		v.About = strings.ReplaceAll(c.Long, "`", "")
	}
	for _, g := range verbGroups {
		if c.Parent() == a.Root && slices.Contains(slices.Concat(g.usual, g.more), c.Name()) {
			v.Group = g.name
		}
	}
	for line := range strings.Lines(c.Example) {
		v.Examples = append(v.Examples, strings.TrimSpace(line))
	}
	a.eachFlag(c, func(f *pflag.Flag, group string) {
		shared := a.Root.PersistentFlags().Lookup(f.Name)
		if group != flags.GroupExpected && (shared == nil || shared.Value != f.Value) {
			v.Flags = append(v.Flags, listedFlag(f))
			return
		}
		v.Global = append(v.Global, f.Name)
		if !slices.ContainsFunc(doc.GlobalFlags, func(g ListedFlag) bool { return g.Name == f.Name }) {
			doc.GlobalFlags = append(doc.GlobalFlags, listedFlag(f))
		}
	})
	v.Usage = c.UseLine()
	doc.Verbs = append(doc.Verbs, v)
	for _, sub := range c.Commands() {
		if listed(sub) {
			a.list(sub, doc)
		}
	}
}

// listedFlag is a flag by what its value says of itself.
func listedFlag(f *pflag.Flag) ListedFlag {
	l := ListedFlag{
		Name: f.Name, Short: f.Shorthand, Type: "string", Value: strings.Join(f.Annotations[flags.ValueKey], ""), Default: flagDefault(f), About: f.Usage,
	}
	switch f.Value.Type() {
	case "bool":
		l.Type = "boolean"
	case "int", "int64", "uint", "uint64", "N":
		l.Type = "integer"
	case "float64":
		l.Type = "number"
	case "duration", "DURATION":
		l.Type = "duration"
	case "SIZE":
		l.Type = "size"
	}
	if one, ok := f.Value.(*flags.Choice); ok {
		l.Allowed = one.Allowed
	}
	_, l.Repeatable = f.Value.(pflag.SliceValue)
	l.Repeatable = l.Repeatable || strings.Contains(f.Usage, "(repeatable")
	return l
}
