package views_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/stack"
)

// shellKeys are those that move, and those of the window: they have one meaning on every screen, and no verb.
var shellKeys = strings.Fields("up down left right h j k l g home G end ctrl+u ctrl+d pgup pgdown enter space [ ] n N : ctrl+p ctrl+c esc q i f9 tab shift+tab " +
	"1 2 3 4 5 6 7 8 z < > \\ ctrl+\\ M v")

// One verb has one key, and one key one meaning: an action of a screen has the keys of its verb and no others, and where it has none a
// word for the command line.
func TestOneVerbOneKey(t *testing.T) {
	of := map[string]tui.Verb{}
	for _, v := range tui.Verbs() {
		for _, k := range v.Keys {
			if of[k] != "" {
				t.Errorf("the key %s has two verbs: %s and %s", k, of[k], v.Verb)
			}
			of[k] = v.Verb
		}
	}
	all := views.All(views.Deps{Stack: struct{ stack.Stack }{}})
	for _, k := range tui.KeyTable(all) {
		shell := k.Scope == tui.EveryScreen
		for key := range strings.SplitSeq(k.Keys, ", ") {
			switch {
			case key == "" || k.Verb != "" && of[key] == k.Verb:
			case shell && (slices.Contains(shellKeys, key) || strings.HasPrefix(key, "y ")):
			default:
				t.Errorf("%s: the key %q is not one of its verb %q", k.ID, key, k.Verb)
			}
		}
		if k.Keys == "" && k.Word == "" {
			t.Errorf("%s has neither a verb nor a word", k.ID)
		}
		if k.Word != "" && strings.ContainsAny(k.Word, " \t") {
			t.Errorf("%s: %q is more than a word", k.ID, k.Word)
		}
	}
	titles := map[string]string{} // by scope and word
	for _, k := range tui.KeyTable(all) {
		if was, ok := titles[k.Scope+"\x00"+k.Word]; ok && k.Word != "" && was != k.Title {
			t.Errorf("%s: :%s means %q and %q on one screen", k.ID, k.Word, was, k.Title)
		}
		titles[k.Scope+"\x00"+k.Word] = k.Title
	}
}
