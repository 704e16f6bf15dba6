package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Shape is what a Node is. Its text completes "it is …".
type Shape string

// The shapes. A Scalar is a number, true or false as it is written.
const (
	Null   Shape = Shape(null)
	Scalar Shape = Shape(scalar)
	Text   Shape = Shape(str)
	Object Shape = Shape(object)
	List   Shape = Shape(array)
)

// Node is a value of a settings file, with where it stands.
type Node struct {
	Shape   Shape
	Text    string   // of a Text its content, of a Scalar as it is written
	Members []Member // of an Object, in file order; no name is there twice
	Items   []Node   // of a List
	Line    int      // 1-based
	Col     int      // 1-based, in bytes
}

// Member is one of an Object.
type Member struct {
	Key       string
	Line, Col int
	Value     Node
}

// Tree is a settings file as a whole.
type Tree struct {
	File     string // absolute path
	Raw      []byte
	Root     Node
	Warnings []Warning // of names that are given twice, and the like
}

// mostLevels is how deep a Tree goes; what an alias nests deeper is left out.
const mostLevels = 32

// ReadTree reads path, JSON (with comments) or YAML. The error is an *os.PathError, or a Warning with the line for a file
// that is neither, or too large.
func ReadTree(path string) (Tree, error) {
	b, err := readFile(path, maxYAML)
	if err != nil {
		return Tree{}, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Tree{}, &os.PathError{Op: "find", Path: path, Err: err}
	}
	return ParseTree(abs, b)
}

// ParseTree is ReadTree for a text at hand.
func ParseTree(file string, raw []byte) (Tree, error) {
	d, err := parse(file, raw)
	if err != nil {
		return Tree{}, err
	}
	t := Tree{File: file, Raw: raw, Root: d.root.tree(0)}
	t.Warnings = d.warnings
	return t, nil
}

// tree is a value for readers of other packages, at most mostLevels deep from depth on.
func (n node) tree(depth int) Node {
	out := Node{Shape: Shape(n.kind())}
	out.Line, out.Col = n.pos()
	switch out.Shape {
	case Text, Scalar:
		out.Text = n.text()
	case Object:
		if n.tooDeep(depth) {
			return out
		}
		for _, m := range n.members() {
			out.Members = append(out.Members, Member{m.key, m.line, m.col, m.value.tree(depth + 1)})
		}
	case List:
		if n.tooDeep(depth) {
			return out
		}
		for _, e := range n.elems() {
			out.Items = append(out.Items, e.tree(depth+1))
		}
	}
	return out
}

// tooDeep reports, with a warning, that what is in a value is left out.
func (n node) tooDeep(depth int) bool {
	if depth >= mostLevels {
		line, col := n.pos()
		n.doc.warnAt(line, col, "values nested more than %d levels deep are ignored", mostLevels)
		return true
	}
	return false
}

// Get is the member of that name.
func (n Node) Get(key string) (Node, bool) {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value, true
		}
	}
	return Node{Shape: Null}, false
}

// Variables expands what belongs to one server, and remembers which variables that took.
type Variables struct {
	Lookup func(string) (string, bool) // of the value of a variable; nil: none is set

	secrets, names []string // values of variables that are named like secrets, and the names of all that were expanded
}

// Expand replaces ${NAME} and ${NAME:-default} in s. The error names a variable that is not set.
func (v *Variables) Expand(s string) (string, error) {
	var err error
	x := &expander{opt: Options{LookupEnv: v.Lookup}, syntax: expandShell}
	x.unset = func(_, variable, fix string) {
		err = fmt.Errorf("environment variable %s is not set; %s", clip(variable), fix)
	}
	s = x.expand("", s)
	v.secrets, v.names = append(v.secrets, x.used...), append(v.names, x.names...)
	return s, err
}

// Describe is [Describe] for a server whose values were expanded by v, which may be nil: the values of variables with a
// secret's name are masked wherever they are, and a field says which variables it is given.
func (v *Variables) Describe(s Server) []Field {
	if v != nil {
		s.secrets = v.secrets
		s.variables = slices.Compact(slices.Sorted(slices.Values(v.names)))
	}
	return Describe(s)
}
