package trace

import _ "embed"

// README is the manual of traces, in Markdown.
//
//go:embed README.md
var README string
