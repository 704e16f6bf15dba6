// Command keytable writes the tables of keys in KEYS.md from the actions that the program really has. go generate runs it.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/stack"
)

const begin, end = "<!-- keys: made by go generate -->\n", "<!-- end of keys -->\n"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: keytable KEYS.md")
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

// table is one Markdown table for each screen, and one for every screen. Keys that do the same share a row, and screens
// with the same keys a table.
func table() string {
	var order []string               // tables, by their first screen
	screens := map[string][]string{} // of a table's rows
	rows, last := map[string]string{}, tui.KeyLine{}
	for _, k := range tui.KeyTable(views.All(views.Deps{Stack: struct{ stack.Stack }{}})) {
		if k.Keys == "" {
			continue
		}
		var keys []string
		for key := range strings.SplitSeq(k.Keys, ", ") {
			keys = append(keys, code(key))
		}
		if rows[k.Scope] == "" {
			order = append(order, k.Scope)
		}
		if k.Scope == last.Scope && k.Help == last.Help {
			rows[k.Scope] = strings.TrimSuffix(rows[k.Scope], " | "+k.Help+" |\n") + " "
		} else {
			rows[k.Scope] += "| "
		}
		rows[k.Scope] += fmt.Sprintf("%s | %s |\n", strings.Join(keys, " "), k.Help)
		last = k
	}
	for _, scope := range order {
		screens[rows[scope]] = append(screens[rows[scope]], scope)
	}
	var b strings.Builder
	for _, scope := range order {
		if with := screens[rows[scope]]; with[0] == scope {
			fmt.Fprintf(&b, "\n## %s\n\n| key | what it does |\n|---|---|\n%s", strings.Join(with, ", "), rows[scope])
		}
	}
	return b.String() + "\n"
}

// code is a key in Markdown, inside a table.
func code(key string) string {
	if key == "\\" {
		return "`\\`"
	}
	return "`" + strings.ReplaceAll(key, "|", "\\|") + "`"
}
