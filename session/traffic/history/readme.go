package history

import _ "embed"

// README is the manual of the history and of named calls, in Markdown.
//
//go:embed README.md
var README string
