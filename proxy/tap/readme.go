package tap

import _ "embed"

// README is the manual of watching other clients, in Markdown.
//
//go:embed README.md
var README string
