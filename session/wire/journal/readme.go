package journal

import _ "embed"

// README is the manual of journal files, in Markdown.
//
//go:embed README.md
var README string
