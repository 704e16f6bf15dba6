package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// TestLocksStayInTheirParts: a lock is taken by methods of its own type only, and what has one knows no other that has: so none is held while
// another is taken, and their order does not matter. A follower is called by those who have it, once they hold nothing.
func TestLocksStayInTheirParts(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	parts := map[string]*ast.StructType{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok && hasLock(fields) {
				parts[spec.Name.Name] = fields
			}
			return true
		})
	}
	for _, name := range []string{"link", "lists", "subscriptions", "taskState"} {
		if parts[name] == nil {
			t.Errorf("%s has no lock of its own", name)
		}
	}
	if parts["Session"] != nil {
		t.Error("Session has a lock: what it guards belongs to one of its parts")
	}
	for name, fields := range parts {
		ast.Inspect(fields, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "Session" || parts[id.Name] != nil) && !knows(name, id.Name) {
				t.Errorf("%s: %s has a lock, and knows %s: what needs both is a method of Session, which takes one after the other", fset.Position(id.Pos()), name, id.Name)
			}
			return true
		})
	}
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "mu" {
					return true
				}
				if of, is := sel.X.(*ast.Ident); !is || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 || of.Name != fn.Recv.List[0].Names[0].Name {
					t.Errorf("%s: %s takes the lock of another type: make that a method of it", fset.Position(sel.Pos()), fn.Name.Name)
				}
				return true
			})
		}
	}
}

// hasLock reports whether a struct has a field mu.
func hasLock(s *ast.StructType) bool {
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			if name.Name == "mu" {
				return true
			}
		}
	}
	return false
}

// knows is which types with locks have others: the manager its sessions, and tasks their followers.
func knows(part, other string) bool {
	return part == "Manager" && other == "Session" || part == "taskState" && other == "follower"
}
