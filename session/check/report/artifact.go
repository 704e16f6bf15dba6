package report

import (
	"bytes"
	"net/url"
	"path/filepath"
)

// Artifact is a file of the repository where SARIF says that findings are: a code-scanning page shows what is in files, which a server is not.
type Artifact struct {
	Path  string         // below the root of the repository, or as it is; "" is mcphud.lock
	lines map[string]int // the first line that has a name, from 1; nil for none
}

// maxArtifact is how much of an artifact is looked at for names, in bytes.
const maxArtifact = 16 << 20

// NewArtifact is the file at path with that content, nil where there is no such file yet. It keeps nothing of content. A finding is at the first line that has its
// name in quotes, else as a key.
func NewArtifact(path string, content []byte) Artifact {
	a := Artifact{Path: path, lines: map[string]int{}}
	// Both ways in any file, and by no parser: JSON has names in quotes, YAML as keys, and one that is broken has lines all the same. An escaped quote
	// ends a name too, so that one with it is not found.
	n := 0
	for row := range bytes.Lines(content[:min(len(content), maxArtifact)]) {
		n++
		if key, _, ok := bytes.Cut(bytes.TrimLeft(row, " -"), []byte(":")); ok {
			a.see(string(bytes.Trim(key, `"'`)), n)
		}
		for rest := row; ; {
			_, after, ok := bytes.Cut(rest, []byte(`"`))
			if !ok {
				break
			}
			word, next, ok := bytes.Cut(after, []byte(`"`))
			if !ok {
				break
			}
			a.see(string(word), n)
			rest = next
		}
	}
	return a
}

// see notes that a line has a name. What is very long names nothing.
func (a Artifact) see(word string, n int) {
	if _, seen := a.lines[word]; !seen && len(word) < 200 {
		a.lines[word] = n
	}
}

// line is where the first of some names is, 1 where none of them is: code scanning does not show a result without a place.
// https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
func (a Artifact) line(names ...string) int {
	for _, name := range names {
		if n := a.lines[name]; n > 0 && name != "" {
			return n
		}
	}
	return 1
}

// uri is the path as SARIF wants it: relative where it can be.
func (a Artifact) uri() string {
	if a.Path == "" {
		return "mcphud.lock"
	}
	u := url.URL{Path: filepath.ToSlash(a.Path)}
	if filepath.IsAbs(a.Path) {
		u.Scheme = "file"
		return u.String()
	}
	return u.EscapedPath() // a URI (SARIF 3.4.3): a blank in a name is none
}
