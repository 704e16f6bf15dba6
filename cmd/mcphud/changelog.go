package main

import _ "embed"

//go:generate cp ../../CHANGELOG.md changelog.md

// changelog is what changed in each version, in Markdown, the newest first: a copy, since nothing above a package can be part of it.
//
//go:embed changelog.md
var changelog string
