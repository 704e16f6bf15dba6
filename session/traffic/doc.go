// Package traffic has the manual of what is done with recorded traffic; its folders do it. filter is the language that selects entries, calls one
// call and what makes it, expect and compare judge answers, trace and stats make trees and numbers, importer and export are the formats of
// others, redact takes private data out. The journal itself is session/wire/journal; session/check is never imported.
package traffic

import _ "embed"

// README is the manual of traffic, in Markdown.
//
//go:embed README.md
var README string
