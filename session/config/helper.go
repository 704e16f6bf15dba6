package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// headersHelper reads a command line, which is split here and expanded later: no shell sees it.
func (e *entry) headersHelper(n node) {
	var err error
	var words []string
	if n.kind() == array {
		words = e.list("headersHelper", n)
	} else {
		words, err = text.Words(e.string("headersHelper", n))
	}
	switch {
	case err != nil:
		e.problem("headersHelper", "%v", err)
	case slices.ContainsFunc(words, ofShell):
		e.problem("headersHelper", "is written for a shell, and none is run; put it into a script, and name that")
	}
	e.HeadersHelper = words
}

// ofShell reports whether a word is one that a shell acts upon.
func ofShell(word string) bool {
	return slices.Contains([]string{"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>&1"}, word) || strings.HasPrefix(word, "$(") || strings.HasPrefix(word, "`")
}

// checkHelper looks for a relative program below the entry's file.
func (e *entry) checkHelper() {
	h := e.HeadersHelper
	if len(h) == 0 {
		return
	}
	for i, a := range h {
		e.noNUL(index("headersHelper", i), a)
	}
	if at := e.at["headersHelper"]; e.Command != "" {
		e.doc.warnAt(at[0], at[1], "server %q: headersHelper has no effect on a command: headers are for a url", clip(e.Name))
	}
	if h[0] == "" {
		e.problem("headersHelper", "names no program")
	}
	if strings.ContainsAny(h[0], "/"+string(filepath.Separator)) && !filepath.IsAbs(h[0]) {
		h[0] = filepath.Join(filepath.Dir(e.Source.File), h[0])
	}
}
