package config

import _ "embed"

// README is the manual of the configuration files, in Markdown.
//
//go:embed README.md
var README string
