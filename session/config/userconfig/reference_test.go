package userconfig

import (
	"fmt"
	"strings"
)

// Reference is the table of settings in Markdown, as the manual has it.
func Reference() string {
	var b strings.Builder
	b.WriteString("| setting | value | default | |\n|---|---|---|---|\n")
	for i := range table {
		s := &table[i]
		def := s.Without
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, s.shape(), def, s.Help)
	}
	return b.String()
}

// shape is what a value looks like, in Markdown.
func (s *Setting) shape() string {
	switch s.Kind {
	case Choice:
		return "`" + strings.Join(s.choices, "`, `") + "`"
	case Switch:
		return "`true`, `false`"
	case Number:
		return fmt.Sprintf("%d to %d", s.min, s.max)
	case Duration:
		return "such as `300ms`, `2m`"
	case Size:
		return "such as `100MB`"
	case Command:
		return "a command line"
	case URL:
		return "a URL"
	case Proxy:
		return "a URL, `none`"
	case File:
		return "a file"
	case Words:
		return "a list of texts"
	case Patterns:
		return "a list of regular expressions"
	case Bindings:
		return "an object"
	}
	return "a name"
}
