// Package flags has the values of flags, and the headings they stand under in help.
package flags

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Headings of help, under which the flags that commands share stand.
const (
	GroupTarget   = "Target"
	GroupStdio    = "stdio"
	GroupHTTP     = "HTTP"
	GroupClient   = "Client"
	GroupLimits   = "Limits"
	GroupOutput   = "Output"
	GroupExpected = "Assertions"
	GroupSafety   = "Safety"
	GroupHelp     = "Help" // shown for mcphud itself only
)

// Groups is their order, and whether the help of a verb shows them without --help-all.
var Groups = []HelpGroup{{GroupTarget, true}, {GroupStdio, false}, {GroupHTTP, false}, {GroupClient, false}, {GroupLimits, false}, {GroupExpected, true}, {GroupOutput, true}, {GroupSafety, false}, {GroupHelp, false}}

// HelpGroup is a heading of help; usual says that a verb shows it without --help-all.
type HelpGroup struct {
	Name  string
	Usual bool
}

// Keys of a flag's annotations.
const (
	GroupKey = "group" // its heading
	ValueKey = "value" // what stands for its value: NAME
)

// Grouped puts flags under a heading.
func Grouped(f *pflag.FlagSet, group string, names ...string) {
	for _, name := range names {
		_ = f.SetAnnotation(name, GroupKey, []string{group}) // the error would be an unknown flag
	}
}

// PlainUsage removes the backticks around names of values, which help and completion would print, and keeps the names for help.
func PlainUsage(c *cobra.Command) {
	plain := func(f *pflag.Flag) {
		if _, done := f.Annotations[ValueKey]; done {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			name = ""
		}
		if usage == f.Usage { // no name was marked, so it is that of the type
			name = strings.Replace(strings.ToUpper(name), "STRING", "VALUE", 1)
		}
		f.Usage = usage
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[ValueKey] = []string{name}
	}
	c.Flags().VisitAll(plain)
	c.PersistentFlags().VisitAll(plain)
	for _, sub := range c.Commands() {
		PlainUsage(sub)
	}
}
