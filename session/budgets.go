package session

import _ "embed"

// Budgets lists the performance budgets, with the figures that were measured, in Markdown.
//
//go:embed test/budget/README.md
var Budgets string
