package tui

import "github.com/mcphud/mcphud/tui/safe"

// Sanitize makes a string that a server controls safe to draw; see [safe.Text].
func Sanitize(s string) string { return safe.Text(s) }
