// Package userconfig reads config.yaml, in which a user says how mcphud looks and behaves. One table has every setting: the reader,
// the reference in README.md and the JSON Schema come from it.
package userconfig

import _ "embed"

// README is the manual of config.yaml, in Markdown.
//
//go:embed README.md
var README string

// FileName is what the file is called in mcphud's configuration folder.
const FileName = "config.yaml"
