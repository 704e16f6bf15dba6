package tui

import _ "embed"

// KEYS is the manual of the keys, made from the actions that there are, in Markdown.
//
//go:embed KEYS.md
var KEYS string
