// Package config reads every MCP client configuration it knows into one list
// of servers, each marked with the file it came from.
//
// # Which files
//
// With Options.Files those files and nothing else. Otherwise, in
// this order, which is also the order of precedence:
//
//  1. $MCPHUD_CONFIG, or else mcphud/mcphud.yaml in the user's config folder
//  2. the user's files of other programs, in the order of the table of dialects; in Claude Code's ~/.claude.json
//     projects[working folder] comes before its top level
//  3. those of the working folder, in the same order
//
// Files of the working folder come last on purpose: an entry that arrived with
// a cloned repository must never take the name of one of the user's own.
//
// # Same name twice
//
// Two files that describe the very same server (equal command, arguments, environment, URL, headers …) make one entry;
// Server.Also lists the other places. Different servers of one name are all kept: the first keeps the name, later ones
// are called name-2, name-3 … and remember what their file calls them in Server.Given.
//
// # Variables
//
// Each file is expanded by its own dialect, after the text was split into arguments, so that no value can become two of
// them. A variable that is not set makes a Problem on that entry and never a failed load.
//
// # Trust
//
// Some entries were written by somebody else: those of the working folder (Source.Project), and those made from a published
// description (Source.Published). Nothing may start one before Trust.Trusted says yes; see Source.NeedsTrust.
//
// # Writing back
//
// Options.AddEntry, EditEntry, RemoveEntry and their like give a [Change], which shows what a file would become; Change.Save writes it. What is not
// about the entry stays byte by byte: comments, order, what only the file's program knows. Where that cannot be had the change is
// refused, and never half made.
//
// # Where is what
//
// load.go merges files, document.go parses one, dialect.go has the table of their formats, entry.go reads an entry, expand.go its variables, check.go what it
// must be; server.go and settings.go are what comes out. write.go and its neighbours change files, encode.go writes an entry in a dialect, mask.go and
// describe.go are for showing one, follow.go reads files again when they change.
//
// # Below it
//
// rewrite changes single values of files, setup is what a server has to be told before it starts, inputs keeps what was typed,
// userconfig reads the settings of a user, yamlfile files of our own in YAML. A dialect is a file here, such as dialect_zed.go.
package config
