package doctor

import _ "embed"

// README is the manual of mcphud doctor, in Markdown.
//
//go:embed README.md
var README string
