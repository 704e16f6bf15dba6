package queue

import _ "embed"

// README is the manual of agents on several machines, in Markdown.
//
//go:embed README.md
var README string
