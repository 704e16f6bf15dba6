// Package registry finds servers in MCP registries (API version 0.1) and turns what their publishers describe, a server.json of any
// generation, into servers that can be started.
//
// Everything that comes from a registry or a description is hostile: sizes, depths, pages and time are bounded, no command runs but
// the few runners of packages that are known here, each argument is one argument and no shell sees it, and whoever shows a text
// sanitises it first.
package registry
