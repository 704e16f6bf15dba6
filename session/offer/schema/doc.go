// Package schema turns the JSON Schemas that MCP servers send (draft-07 and 2020-12 for the most part) into something a
// person can fill in: a lazy tree of fields, a lossless document model for the values, validation addressed by JSON
// pointer, and coercion from plain text.
//
// Nothing in here draws, blocks on a network or trusts its input. A schema is hostile until proven otherwise:
// references are never fetched, recursion is expanded only on demand, and sizes, depths and counts are bounded (see
// limits.go). What cannot be honoured is reported as a note or as unchecked, never silently dropped, because an
// inspector has to show what is there.
package schema
