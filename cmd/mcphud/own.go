package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// ownArgs are a command's own arguments, and the server's command after the double dash, if there is one. A server among the former is
// taken as the target, unless means reports that the word means something else to the command; nil for words that never do.
func (a *app) ownArgs(cmd *cobra.Command, args []string, means func(word string) bool) (own, command []string, dash bool, err error) {
	own, command, dash = splitArgs(cmd, args)
	if f := cmd.Flags().Lookup(nameFlag); f != nil && f.Changed {
		own = append([]string{f.Value.String()}, own...)
	}
	if own, err = a.o.takeServer(cmd, own, dash, means); err != nil {
		return nil, nil, false, err
	}
	err = checkArgs(cmd, own)
	var e *failure.Error
	if errors.As(err, &e) && a.o.near != "" {
		e.Next = a.o.near + e.Next
	}
	return own, command, dash, err
}

// takeServer takes the server from a command's own arguments, where nothing else names one and the command can do without that argument: a
// plain http(s) or ws(s) URL, or the name of a configured server, by the same rules of trust as --server. It stands last, or first, or
// among the others. What is left is returned. Where there is none, near gets the names that one of the words is similar to.
func (o *options) takeServer(cmd *cobra.Command, own []string, dash bool, means func(word string) bool) ([]string, error) {
	if dash || o.url+o.agent+o.server != "" {
		return own, nil
	}
	rule, ok := argRules[cmd.Annotations[ruleKey]]
	if !ok || len(own) <= rule.min {
		return own, nil
	}
	without := func(i int) []string { return slices.Delete(slices.Clone(own), i, i+1) }
	for _, i := range places(len(own), true) {
		if config.IsURL(own[i]) {
			o.url = own[i]
			return without(i), nil
		}
	}
	var set config.Set
	for _, i := range places(len(own), false) {
		word := own[i]
		if strings.Contains(word, "=") || slices.Contains(cmd.ValidArgs, word) || means != nil && means(word) {
			continue
		}
		if set.Servers == nil {
			var err error
			if set, _, err = o.load(); err != nil {
				if rule.max >= 0 && len(own) > rule.max { // it can only be a name of that file
					return own, err
				}
				return own, nil
			}
		}
		if _, ok := set.Server(word); ok {
			o.server, o.near = word, ""
			return without(i), nil
		}
		if o.near == "" {
			o.near = didYouMean(word, serverNames(set))
		}
		if len(set.Servers) == 0 {
			break
		}
	}
	return own, nil
}

// places are the indices of n arguments in the order in which a server is looked for: a URL can be nothing else and is searched from the
// front, a name where the usage has it.
func places(n int, front bool) []int {
	order := []int{n - 1, 0}
	if front {
		order = []int{0, n - 1}
	}
	for i := range n - 2 {
		order = append(order, i+1)
	}
	return order[:min(len(order), max(n, 1))]
}
