package mock

import _ "embed"

// README is the manual of mock servers, in Markdown.
//
//go:embed README.md
var README string
