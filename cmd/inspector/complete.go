package inspector

import (
	"slices"
	"strings"
)

// Suggestion is what a shell may put in the place of the word that is being typed.
type Suggestion struct {
	Word, About string
}

// Complete is what may follow the words of a command line, where word has been typed so far. files says that it may be the name of a
// file instead.
func Complete(words []string, word string) (all []Suggestion, files bool) {
	if slices.Contains(words, "--") {
		return nil, true // a command of the user's
	}
	name, value, inline := strings.Cut(word, "=")
	if inline && strings.HasPrefix(name, "--") {
		word = value
	} else if inline = false; len(words) > 0 {
		name = words[len(words)-1]
	}
	for _, o := range options() {
		if o.value != "" && (inline || len(words) > 0) && slices.Contains(o.names, name) {
			for _, c := range o.choices {
				if strings.HasPrefix(c, word) {
					all = append(all, Suggestion{Word: c})
				}
			}
			return all, o.value == "<path>"
		}
	}
	if inline || !strings.HasPrefix(word, "-") {
		return nil, !inline
	}
	for _, o := range options() {
		for _, n := range o.names {
			if n != "--cli" && strings.HasPrefix(n, word) {
				all = append(all, Suggestion{n, o.about})
			}
		}
	}
	return all, false
}
