package pending

import _ "embed"

// README is the manual of answering what servers ask, in Markdown.
//
//go:embed README.md
var README string
