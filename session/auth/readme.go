package auth

import _ "embed"

// README is the manual of logins, in Markdown.
//
//go:embed README.md
var README string
