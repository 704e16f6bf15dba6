// Package traffic has the manual of what is done with recorded traffic. Its folders do it:
//
//   - filter: the language that selects entries
//   - stats: numbers, lanes in time, OpenMetrics
//   - trace: hops of one call as a tree; the client's spans for a collector
//   - export: HTTP archives, a page, parts of journals
//   - importer: files of other programs as journals
//   - redact: takes private data out of journals
//   - calls: one call, kept in the history, named in a file of a project, or recorded; and what makes it, once more, at two servers
//   - expect: compares an answer with what was expected; compare: how two JSON values differ
//
// They import session/client, session/serve, session and what these stand on; never session/check, whose findings they are given. A format to
// write is a file of export, one to read a file of importer. The journal itself is session/wire/journal.
package traffic

import _ "embed"

// README is the manual of traffic, in Markdown.
//
//go:embed README.md
var README string
