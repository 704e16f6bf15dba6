package agentsrv

import _ "embed"

// README is the manual of the bundled agent, in Markdown.
//
//go:embed README.md
var README string
