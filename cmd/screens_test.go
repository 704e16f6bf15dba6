package cmd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// What a screen can do stands in the fields of tui.Screen, where the compiler and whoever reads it see it: nothing in tui or views is asked whether
// it happens to have a method besides.
func TestNoScreenIsAskedWhatItCanDo(t *testing.T) {
	fset, files := token.NewFileSet(), []*ast.File{}
	eachFile(t, func(file string, content []byte) {
		room, _, _ := strings.Cut(file, "/")
		if room != "tui" && room != "views" || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || file == "tui/external.go" { // whose readers may be files
			return
		}
		f, err := parser.ParseFile(fset, file, content, 0)
		require.NoError(t, err)
		files = append(files, f)
	})
	for _, where := range askedFor(fset, files) {
		t.Errorf("%s: a type is asked whether it has the methods of an interface: what a screen does not need is a nil function of tui.Screen (tui/README.md); add a field to %s",
			where, line(t, "tui/screen.go", "type Screen struct"))
	}
	bad, err := parser.ParseFile(fset, "bad.go", "package p\ntype I interface{ M() }\nfunc f(v any) {\n_, _ = v.(I)\nswitch v.(type) {\ncase *int, interface{ M() }:\ncase p.I:\n}\n}", 0)
	require.NoError(t, err)
	if got, want := askedFor(fset, []*ast.File{bad}), []string{"bad.go:4", "bad.go:6", "bad.go:7"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// askedFor is where files convert to interfaces: to one without a name, or one that they declare.
func askedFor(fset *token.FileSet, files []*ast.File) (where []string) {
	declared := map[string]bool{}
	ask := func(types ...ast.Expr) {
		for _, x := range types {
			of := x
			if s, ok := of.(*ast.SelectorExpr); ok {
				of = s.Sel
			}
			_, unnamed := of.(*ast.InterfaceType)
			if id, ok := of.(*ast.Ident); unnamed || ok && declared[id.Name] {
				at := fset.Position(x.Pos())
				where = append(where, fmt.Sprintf("%s:%d", at.Filename, at.Line))
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if d, ok := n.(*ast.TypeSpec); ok {
				if _, is := d.Type.(*ast.InterfaceType); is {
					declared[d.Name.Name] = true
				}
			}
			return true
		})
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				ask(n.Type)
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					ask(c.(*ast.CaseClause).List...)
				}
			}
			return true
		})
	}
	return where
}
