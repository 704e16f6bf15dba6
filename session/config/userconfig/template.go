package userconfig

import (
	"cmp"
	"fmt"
	"strings"
)

// Template is a file with every setting in a comment, with its default: where nobody has written one yet.
func Template() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n\n# How mcphud looks and behaves. Everything here is optional: take the # away from what you change.\n", SchemaID)
	block := ""
	for i := range table {
		s := &table[i]
		in, _, inBlock := strings.Cut(s.Key, ".")
		indent := ""
		switch {
		case !inBlock:
			block = ""
			b.WriteByte('\n')
		case in != block:
			block = in
			fmt.Fprintf(&b, "\n#%s:\n", in)
		}
		if inBlock {
			indent = "  "
		}
		value := s.Default
		about := "default"
		if value == "" {
			value, about = s.example(), "without it: "+s.Usual()
		}
		comment := "# "
		if inBlock {
			comment = "#  # "
		}
		fmt.Fprintf(&b, "%s%s (%s)\n", comment, plainText(s.Help), about)
		if s.Kind == Choice {
			fmt.Fprintf(&b, "%sOne of %s.\n", comment, joinOr(s.choices))
		}
		fmt.Fprintf(&b, "#%s%s: %s\n", indent, s.name(), value)
	}
	return []byte(b.String())
}

// example is a value of a setting without a default.
func (s *Setting) example() string {
	switch s.Kind {
	case Choice:
		return s.choices[0]
	case Number:
		return fmt.Sprint(s.min + (s.max-s.min)/3)
	case Duration:
		return "30s"
	case Words:
		return `["X-Corp-*"]`
	case Patterns:
		return `['corp_[0-9a-f]{32}']`
	case Bindings:
		return "{app.zoom: [z, f11]}"
	case Command:
		if s.Key == "pager" {
			return "less -R"
		}
		return "emacs -nw"
	case URL:
		return "http://127.0.0.1:11434/v1"
	case Proxy:
		return "http://proxy.example.com:3128"
	case File:
		return s.name() + ".pem"
	}
	return "dark"
}

// About is what the setting does, without Markdown.
func (s *Setting) About() string { return plainText(s.Help) }

// Usual is what holds where nothing gives a value, in words where it is none.
func (s *Setting) Usual() string { return cmp.Or(s.Default, strings.ReplaceAll(s.Without, "`", "")) }

// plainText is a help text without Markdown.
func plainText(s string) string {
	if i := strings.Index(s, ", see ["); i >= 0 {
		s = s[:i] + "."
	}
	if i := strings.Index(s, " See ["); i >= 0 {
		s = s[:i]
	}
	return strings.ReplaceAll(s, "`", "")
}
