package check

import _ "embed"

// README is the manual of mcphud check, in Markdown.
//
//go:embed README.md
var README string
