package ui

import _ "embed"

//go:generate cp ../../CHANGELOG.md changelog.md

// Changelog is what changed in each version, in Markdown, the newest first: a copy, since nothing above a package can be part of it.
//
//go:embed changelog.md
var Changelog string
