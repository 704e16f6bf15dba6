package filter

import _ "embed"

// README is the manual of the traffic screens and of the filter, in Markdown.
//
//go:embed README.md
var README string
