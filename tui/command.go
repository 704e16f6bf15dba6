package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
)

// newCommandLine is the `:` prompt.
func newCommandLine(a *App) *prompt {
	p := &prompt{
		label: ":", recall: &a.recall,
		complete: wholeLines(a.completeCommand),
		done:     func(a *App, text string) tea.Cmd { return a.command(text) },
		cancel:   func(*App) tea.Cmd { return nil },
	}
	p.recall.begin()
	p.suggest()
	return p
}

// completeCommand lists what the text of the `:` line can become, best first: words of actions and what can follow them, screens with
// the things on them, action ids and "server NAME".
func (a *App) completeCommand(text string) (out []string) {
	add := func(s string) { out = append(out, s) }
	word, _, named := strings.Cut(text, " ")
	local, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	for _, x := range slices.Concat(local, global) {
		switch {
		case x.Word == "":
		case x.Args == nil || !named || x.Word != word:
			add(x.Word)
		default:
			for _, s := range x.Args(&a.ctx) {
				add(word + " " + safe.Line(s, 300))
			}
		}
	}
	for i := range a.actions.views {
		v := &a.actions.views[i]
		add(v.ID)
		if v.Find != nil && named && a.actions.find(word) == v {
			for _, x := range v.Find(&a.ctx) {
				add(word + " " + safe.Line(x.Name, 300))
			}
		}
	}
	add("quit")
	for _, x := range local {
		add(x.ID)
	}
	for _, n := range a.servers.names() {
		add("server " + n)
	}
	for _, x := range global {
		add(x.ID)
	}
	for _, v := range a.actions.views {
		for _, x := range v.actions {
			if x.Word != "" {
				add(x.Word)
			}
		}
	}
	q, all := widget.ParseQuery(text), out
	found, err := q.Filter(context.Background(), len(all), func(i int) (string, string) { return all[i], "" })
	if err != nil { // nobody cancels it
		return nil
	}
	out = make([]string, 0, len(found))
	for _, i := range found[:min(len(found), maxOffers)] {
		if s := all[i]; s != text && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// maxOffers is how many completions tab goes through.
const maxOffers = 100

// command runs a line of the `:` prompt: the word of an action, a screen's id or alias, an action's id, "server NAME" or "quit".
func (a *App) command(text string) tea.Cmd {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "":
		return nil
	case word == "q" || word == "quit":
		return a.quit.request(a)
	case word == "server" && rest != "":
		return a.selectServer(rest)
	}
	switch x := a.actions.byWord(&a.ctx, a.place.view, a.ctx.Focus, word); {
	case x != nil && rest == "" && (x.reason(&a.ctx) == "" || a.actions.find(word) == nil): // a screen says itself what it lacks
		return a.runAnywhere(x)
	case x != nil && x.Arg != nil:
		return x.Arg(&a.ctx, rest)
	}
	if v := a.actions.find(word); v != nil {
		var arg any
		if rest != "" {
			arg = rest
		}
		return a.navigate(Navigate{View: v.ID, Arg: arg})
	}
	if x := cmp.Or(a.actions.byID[word], a.actions.elsewhere(word)); x != nil {
		return a.runAnywhere(x)
	}
	for _, v := range a.actions.views { // a tool, prompt or resource
		if v.Find != nil {
			for _, f := range v.Find(&a.ctx) {
				if f.Name == strings.TrimSpace(text) {
					return f.Run(&a.ctx)
				}
			}
		}
	}
	next := "tab completes, ctrl+p lists everything"
	if a.linear {
		next = "help lists them"
	}
	if near := a.similarWords(word); len(near) > 0 {
		next = "did you mean :" + strings.Join(near, " or :") + "?"
	}
	a.toasts.add(Warning, "there is no command "+word+"; "+next)
	return nil
}

// similarWords are the commands that a mistyped one stands for, at most three.
func (a *App) similarWords(word string) []string {
	words := []string{"quit", "server"}
	for _, v := range a.actions.views {
		words = append(words, append(v.Aliases, v.ID)...)
		for _, x := range v.actions {
			words = append(words, x.Word)
		}
	}
	_, global := a.actions.scoped(&a.ctx, a.place.view, a.ctx.Focus)
	for _, x := range global {
		words = append(words, x.Word)
	}
	slices.Sort(words)
	return widget.Similar(word, slices.Compact(words))
}

// runAnywhere runs an action from palette or command line, going to its screen first where that is another.
func (a *App) runAnywhere(x *Action) tea.Cmd {
	for _, v := range a.actions.views {
		for _, y := range v.actions {
			if y != x {
				continue
			}
			var first tea.Cmd
			if v.ID != a.place.view {
				first = a.navigate(Navigate{View: v.ID})
			}
			if x.Pane != "" {
				first = join(first, a.focusPane(x.Pane))
			}
			a.sync()
			return join(first, a.run(x))
		}
	}
	return a.run(x)
}
