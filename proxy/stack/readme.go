package stack

import _ "embed"

// README is the manual of stacks of agents, in Markdown.
//
//go:embed README.md
var README string
