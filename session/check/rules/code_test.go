package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// code is where the rules of a section are found, by the section.
var code = map[string]string{"server": "..", "load": "../bench"}

// emitters are functions that take the name of a rule as their first argument.
var emitters = map[string][]string{"safety": {"add", "once", "o"}, "contract": {"add"}}

// Each rule is named in the code of its section, by its id or by its name, and whatever the code names is a rule. That a rule's cases are really
// found is a test of its section, which wants one for each.
func TestCodeAndRulesAgree(t *testing.T) {
	t.Parallel()
	for _, name := range names(t) {
		dir := code[name]
		if dir == "" {
			dir = "../" + name
		}
		literals := map[string]bool{}
		each(t, dir, func(at string, n ast.Node) {
			switch n := n.(type) {
			case *ast.BasicLit:
				s := unquoted(n)
				literals[s] = true
				if strings.HasPrefix(s, name+"/") && !strings.ContainsAny(s, " {%:") && len(s) > len(name)+1 && Find(name, s) == nil {
					t.Errorf("%s: %s is not a rule of %s.yaml", at, s, name)
				}
			case *ast.CallExpr:
				if lit, ok := first(n); ok && slices.Contains(emitters[name], called(n)) && Find(name, name+"/"+unquoted(lit)) == nil {
					t.Errorf("%s: %s is not a rule of %s.yaml", at, unquoted(lit), name)
				}
			}
		})
		for _, r := range Of(name) {
			if !literals[r.ID] && !literals[r.Name()] && !joined(literals, r.Name()) {
				t.Errorf("%s is not named in %s: nothing finds it", r.ID, dir)
			}
		}
	}
}

// joined reports whether a name is made of two literals: tool + -removed.
func joined(literals map[string]bool, name string) bool {
	before, after, found := strings.Cut(name, "-")
	return found && literals[before] && literals["-"+after]
}

// Nothing reads a file of rules before somebody asks for them: a variable of a package would, at each start of the program.
func TestNothingIsReadAtStart(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"..", "../../../views", "../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			each(t, path, func(at string, n ast.Node) {
				if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.VAR {
					ast.Inspect(decl, func(n ast.Node) bool {
						if call, ok := n.(*ast.CallExpr); ok && slices.Contains([]string{"rules.Of", "rules.Find", "rules.Revisions"}, qualified(call)) {
							t.Errorf("%s: %s is called when the program starts", at, qualified(call))
						}
						_, later := n.(*ast.FuncLit)
						return !later
					})
				}
			})
			return nil
		})
		require.NoError(t, err)
	}
}

// each calls f with the nodes of the files of a package, tests left out, and where they are; of declarations, only with those of the package.
func each(t *testing.T, dir string, f func(at string, n ast.Node)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if g, is := n.(*ast.GenDecl); n != nil && (!is || ast.Decl(g) == d) {
					f(fset.Position(n.Pos()).String(), n)
				}
				return true
			})
		}
	}
}

func unquoted(lit *ast.BasicLit) string {
	if lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

// first is the first argument of a call, where that is a text.
func first(call *ast.CallExpr) (lit *ast.BasicLit, ok bool) {
	if len(call.Args) > 0 {
		lit, ok = call.Args[0].(*ast.BasicLit)
	}
	return lit, ok && lit.Kind == token.STRING
}

// called is the name of the function or method that is called.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// qualified is the name of a function that is called with that of its package.
func qualified(call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if of, ok := f.X.(*ast.Ident); ok {
			return of.Name + "." + f.Sel.Name
		}
	}
	return ""
}
