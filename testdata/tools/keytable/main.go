// Command keytable writes the tables of keys in KEYS.md from the actions that the program really has. go generate runs it.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"
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

// table is the verbs with what each does where, the keys of the shell, those of forms, and the words of what has no key.
func table() string {
	list := tui.KeyTable(views.All(views.Deps{Stack: struct{ stack.Stack }{}}))
	var b strings.Builder
	for _, scope := range []tui.Scope{tui.VerbScope, tui.ReadScope, tui.FormScope} {
		fmt.Fprintf(&b, "\n## The keys of %s\n\n| key | verb | what it does there |\n|---|---|---|\n", scope)
		for _, v := range tui.Verbs() {
			if v.Scope == scope {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", codes(v.Keys), v.Verb, meanings(list, v.Verb))
			}
		}
	}
	b.WriteString("\n## The keys of the program\n\n| for | keys |\n|---|---|\n" + shell(list))
	b.WriteString("\n## Without a key\n\nThe palette (ctrl+p) and `?` list these; after `:` their words run them, also from other screens.\n\n| on | words |\n|---|---|\n" + words(list))
	return b.String() + "\n"
}

// meanings are what a verb does, each with the screens where it does that: titles that are the verb itself say nothing.
func meanings(list []tui.KeyLine, v tui.Verb) string {
	var titles []string
	screens := map[string][]string{}
	for _, k := range list {
		if v == tui.VerbCopy && strings.HasPrefix(k.Keys, "y ") {
			k.Verb, k.Title = v, code(k.Keys)+strings.TrimPrefix(k.Title, "copy")
		}
		if k.Verb != v || slices.Contains(screens[k.Title], k.Scope) {
			continue
		}
		if screens[k.Title] == nil {
			titles = append(titles, k.Title)
		}
		screens[k.Title] = append(screens[k.Title], k.Scope)
	}
	var out []string
	for _, t := range titles {
		out = append(out, t+in(screens[t]))
	}
	return strings.Join(out, ", ")
}

// in names a few screens; many are all that have it.
func in(screens []string) string {
	if len(screens) > 4 || screens[0] == tui.EveryScreen {
		return ""
	}
	return " (" + strings.Join(screens, ", ") + ")"
}

// shell is a row for each group of the keys that every screen has.
func shell(list []tui.KeyLine) string {
	var groups []string
	rows := map[string][]string{}
	for _, k := range list {
		digit, isTab := strings.CutPrefix(k.ID, "app.screen")
		if k.Scope != tui.EveryScreen || k.Keys == "" || k.Verb != "" || strings.HasPrefix(k.Keys, "y ") || isTab && digit != "1" {
			continue
		}
		if isTab {
			k.Keys, k.Title = "1…8", "tab with this number"
		}
		if rows[k.Group] == nil {
			groups = append(groups, k.Group)
		}
		rows[k.Group] = append(rows[k.Group], codes(strings.Split(k.Keys, ", "))+" "+k.Title)
	}
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ToLower(g), strings.Join(rows[g], " · "))
	}
	return b.String()
}

// words is a row for each screen, and one for what many have.
func words(list []tui.KeyLine) string {
	screens := map[string][]string{}
	for _, k := range list {
		if id := k.Word + "\x00" + k.Title; k.Keys == "" && !slices.Contains(screens[id], k.Scope) {
			screens[id] = append(screens[id], k.Scope)
		}
	}
	var order []string
	rows := map[string][]string{}
	for _, k := range list {
		id := k.Word + "\x00" + k.Title
		if screens[id] == nil {
			continue
		}
		where := strings.Join(screens[id], ", ")
		if len(screens[id]) > 4 {
			where = "many screens"
		}
		screens[id] = nil
		if rows[where] == nil {
			order = append(order, where)
		}
		text := "`:" + k.Word + "`"
		if k.Title != k.Word {
			text += " " + k.Title
		}
		rows[where] = append(rows[where], text)
	}
	var b strings.Builder
	for _, where := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", where, strings.Join(rows[where], " · "))
	}
	return b.String()
}

// codes are keys in Markdown, inside a table.
func codes(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = code(k)
	}
	return strings.Join(out, " ")
}

// code is a key in Markdown, inside a table.
func code(key string) string {
	if key == "\\" {
		return "`\\`"
	}
	return "`" + strings.ReplaceAll(key, "|", "\\|") + "`"
}
