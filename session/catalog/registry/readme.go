package registry

import _ "embed"

// README is the manual of registries and descriptions, in Markdown.
//
//go:embed README.md
var README string
