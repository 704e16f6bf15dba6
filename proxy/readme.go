package proxy

import _ "embed"

// README is the manual of the router, in Markdown.
//
//go:embed README.md
var README string
