// Package confine shuts a child process in: it reads and writes only what a list says, and has no network unless the list says so. The
// system enforces it, on Linux by Landlock (files) and seccomp (sockets). Where the system cannot, the child is not started.
//
// [Prepare] has the program start itself in the child's place: before anything else runs there, it gives its rights up and
// executes the child's program, in the same process. Whatever imports this package can do that.
package confine

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Rules are what a child may do beyond the folders of the system, its own program and a temporary folder of its own. The zero value
// allows nothing more. A nil *Rules shuts nobody in.
type Rules struct {
	Read    []string `json:"read,omitempty"`    // files, and folders with all that is in them; programs there may be run
	Write   []string `json:"write,omitempty"`   // the same, to read and to change
	Network bool     `json:"network,omitempty"` // IPv4 and IPv6, in both directions
}

// Words of [Rules.Add].
const (
	Network = "network"
	Read    = "read"
	Write   = "write"
)

// Add adds what one word of a command line allows: "network", "read=PATH" or "write=PATH". "" and "true" add nothing.
func (r *Rules) Add(word string) error {
	what, path, given := strings.Cut(word, "=")
	switch {
	case word == "" || word == "true":
	case word == Network:
		r.Network = true
	case given && path != "" && what == Read:
		r.Read = append(r.Read, path)
	case given && path != "" && what == Write:
		r.Write = append(r.Write, path)
	default:
		return fmt.Errorf("%q is not what a sandbox can allow; write network, read=PATH or write=PATH", word)
	}
	return nil
}

// Words are those that [Rules.Add] makes r of, at least one.
func (r *Rules) Words() (words []string) {
	for _, p := range r.Read {
		words = append(words, Read+"="+p)
	}
	for _, p := range r.Write {
		words = append(words, Write+"="+p)
	}
	if r.Network {
		words = append(words, Network)
	}
	if words == nil {
		words = []string{"true"}
	}
	return words
}

// Clone is a copy with lists of its own; nil of nil.
func (r *Rules) Clone() *Rules {
	if r == nil {
		return nil
	}
	return &Rules{append([]string(nil), r.Read...), append([]string(nil), r.Write...), r.Network}
}

// Check refuses paths that cannot be meant.
func (r *Rules) Check() error {
	for _, p := range append(append([]string(nil), r.Read...), r.Write...) {
		if p == "" || strings.ContainsRune(p, 0) {
			return errors.New("a path of the sandbox is empty or has a NUL byte in it")
		}
	}
	return nil
}

// Resolve makes the paths absolute: below home where they begin with ~/, else below folder.
func (r *Rules) Resolve(folder, home string) {
	for _, list := range [][]string{r.Read, r.Write} {
		for i, p := range list {
			list[i] = absolute(p, folder, home)
		}
	}
}

func absolute(path, folder, home string) string {
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case home != "" && (path == "~" || strings.HasPrefix(path, "~/")):
		return filepath.Join(home, path[1:])
	}
	return filepath.Join(folder, path)
}

// Describe says for a person what r allows, each part made fit to be shown by quote.
func (r *Rules) Describe(quote func(string) string) string {
	parts := []string{"no network"}
	if r.Network {
		parts[0] = "with network"
	}
	for _, l := range []struct {
		verb  string
		paths []string
	}{{"reads ", r.Read}, {"reads and writes ", r.Write}} {
		if len(l.paths) == 0 {
			continue
		}
		quoted := make([]string, len(l.paths))
		for i, p := range l.paths {
			quoted[i] = quote(p)
		}
		parts = append(parts, l.verb+strings.Join(quoted, " "))
	}
	if len(parts) == 1 {
		parts = append(parts, "no files but its own and the system's programs")
	}
	return strings.Join(parts, ", ")
}

// Program is a child to be shut in, as process.Spec has it.
type Program struct {
	Path, Name string // Name is its argument 0
	Args       []string
	Env        []string // NAME=value; all of them
	Dir        string   // "" is that of this process
}

// UnsupportedError is why this system cannot shut a process in.
type UnsupportedError struct{ Reason string }

// Error says what is not enforced.
func (e *UnsupportedError) Error() string {
	return "its sandbox cannot be enforced here: " + e.Reason
}

// PathError is a path of a list that cannot be used.
type PathError struct {
	List, Path string // List is Read or Write
	Err        error
}

// Error names the path.
func (e *PathError) Error() string {
	return fmt.Sprintf("its sandbox cannot allow to %s %s: %v", e.List, e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *PathError) Unwrap() error { return e.Err }
