// Command keytable writes the table of keys in the README from the actions that
// the program really has. go generate runs it.
package main

//go:generate go run . ../../README.md

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
)

const begin, end = "<!-- keys: made by go generate -->\n", "<!-- end of keys -->\n"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: keytable README.md")
	}
	old, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	before, rest, ok := bytes.Cut(old, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		log.Fatalf("%s has no part between %q and %q", os.Args[1], begin, end)
	}
	text := string(before) + begin + table() + end + string(after)
	if text == string(old) {
		return
	}
	if err := os.WriteFile(os.Args[1], []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// table is one Markdown table for each screen, and one for every screen. Keys
// that do the same share a row.
func table() string {
	var b strings.Builder
	scope, help, keys := "", "", ""
	row := func() {
		if keys != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", keys, help)
		}
		keys = ""
	}
	for _, k := range tui.KeyTable(views.All(views.Deps{Stack: struct{ views.Stack }{}})) {
		if k.Keys == "" {
			continue
		}
		if k.Scope != scope || k.Help != help {
			row()
		}
		if k.Scope != scope {
			scope = k.Scope
			fmt.Fprintf(&b, "\n**%s**\n\n| key | what it does |\n|---|---|\n", scope)
		}
		help = k.Help
		for key := range strings.SplitSeq(k.Keys, ", ") {
			keys = strings.TrimSpace(keys + " " + code(key))
		}
	}
	row()
	return b.String() + "\n"
}

// code is a key in Markdown, inside a table.
func code(key string) string {
	if key == "\\" {
		return "`\\`"
	}
	return "`" + strings.ReplaceAll(key, "|", "\\|") + "`"
}
