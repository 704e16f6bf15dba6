package views

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// plainValue is a JSON value as people write it: a string without its quotes.
func plainValue(raw []byte) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// commandLine is the mcphud command that opens a server, secrets masked; rest
// is the subcommand with its arguments, "" for the UI.
func commandLine(srv config.Server, rest string) string {
	var b strings.Builder
	b.WriteString("mcphud")
	if rest != "" {
		b.WriteString(" " + rest)
	}
	if srv.Source.File != "" {
		return b.String() + " --server " + shellQuote(srv.Name)
	}
	m := srv.Masked()
	if m.Protocol != "" && m.Protocol != "auto" {
		b.WriteString(" --protocol " + shellQuote(m.Protocol))
	}
	for k, val := range sorted(m.Headers) {
		b.WriteString(" -H " + shellQuote(k+": "+val))
	}
	for k, val := range sorted(m.Env) {
		b.WriteString(" -e " + shellQuote(k+"="+val))
	}
	if m.Cwd != "" {
		b.WriteString(" --cwd " + shellQuote(m.Cwd))
	}
	if m.Command == "" {
		return b.String() + " --url " + shellQuote(m.URL)
	}
	b.WriteString(" -- " + shellQuote(m.Command))
	for _, a := range m.Args {
		b.WriteString(" " + shellQuote(a))
	}
	return b.String()
}

// configEntry is the server as an entry of an mcpServers file, secrets masked.
func configEntry(srv config.Server) string {
	m := srv.Masked()
	type entry struct {
		Type    string            `json:"type,omitempty"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		Cwd     string            `json:"cwd,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	e := entry{Command: m.Command, Args: m.Args, Env: m.Env, Cwd: m.Cwd, URL: m.URL, Headers: m.Headers}
	if m.URL != "" {
		e.Type = "http"
		if m.Transport == config.SSE {
			e.Type = config.SSE
		}
	}
	out, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]entry{srv.Name: e}}, "", "  ")
	if err != nil { // strings only: cannot happen
		return ""
	}
	return string(out)
}

// shellQuote writes an argument so that a POSIX shell reads it back unchanged.
func shellQuote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
	}) < 0 {
		return s
	}
	if strings.IndexFunc(s, safe.Hidden) >= 0 || !utf8.ValidString(s) {
		return escapedQuote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// escapedQuote writes what a terminal would obey or not show as $'\x1b': a
// command is copied to be pasted, and an escape sequence in a tool's name
// could end the paste and go on with a line that runs.
func escapedQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i, n := 0, 0; i < len(s); i += n {
		r, size := utf8.DecodeRuneInString(s[i:])
		n = size
		switch {
		case r == '\'' || r == '\\':
			b.WriteString("\\" + string(r))
		case safe.Hidden(r) || r == utf8.RuneError && n == 1:
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(s[i : i+n])
		}
	}
	return b.String() + "'"
}

// sorted walks a map in the order of its keys.
func sorted(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
