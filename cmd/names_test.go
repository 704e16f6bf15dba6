package cmd_test

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowedWords are the words that names are made of: the specification's terms, the verbs of the standard library, the nouns of the field,
// one a line, sorted. A new word is a line that a reader of the change can refuse; better is one that is there.
//
//go:embed words.txt
var allowedWords string

// foreign are names of other programs and of the specification that comments have.
var foreign = strings.Fields("DetailedTask ExtensionsByType OpenSSL SafeEmulator ServeMux SplitMix64 SymSpell TestBudget TestE2E TextUnmarshaler UnsupportedProtocolVersion UserID iTerm2 kHz nPass")

// inText is a word of a comment that can only be a name: it has a capital inside, or is a link.
var inText = regexp.MustCompile(`\b[a-z]+[a-z0-9]*[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\[[A-Z]\w+(?:\.\w+)*\]`)

// Names are made of words that are allowed, all of which are in use; and what comments name is there.
func TestNames(t *testing.T) {
	words := strings.Fields(allowedWords)
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Error("cmd/words.txt is not sorted, or has a word twice")
	}
	used := map[string]bool{}
	for _, w := range words {
		used[w] = false
	}
	fset := token.NewFileSet()
	known := map[string]bool{}
	var literals strings.Builder
	type mention struct{ where, name string }
	var mentions []mention
	eachFile(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		f, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					literals.WriteString(n.Value + "\n")
				}
			}
			if strings.HasSuffix(path, "_test.go") {
				return true
			}
			for _, id := range declared(n) {
				for _, w := range nameWords(id.Name) {
					if _, ok := used[w]; !ok {
						t.Errorf("%s: %s: the word %q is not in cmd/words.txt: say it in one that is, or add it", fset.Position(id.Pos()), id.Name, w)
					}
					used[w] = true
				}
			}
			return true
		})
		for _, g := range f.Comments {
			for _, c := range g.List {
				for _, m := range inText.FindAllString(c.Text, -1) {
					m = strings.Trim(m, "[]")
					mentions = append(mentions, mention{fset.Position(c.Pos()).String(), m[strings.LastIndex(m, ".")+1:]})
				}
			}
		}
	})
	for w, yes := range used {
		if !yes {
			t.Errorf("cmd/words.txt: no name has the word %q", w)
		}
	}
	text := literals.String()
	for _, m := range mentions {
		if !known[m.name] && !slices.Contains(foreign, m.name) && !strings.Contains(text, m.name) {
			t.Errorf("%s: there is no %s", m.where, m.name)
		}
	}
}

// declared are the names that a node declares.
func declared(n ast.Node) (ids []*ast.Ident) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		ids = append(ids, n.Name)
	case *ast.TypeSpec:
		ids = append(ids, n.Name)
	case *ast.ValueSpec:
		ids = n.Names
	case *ast.Field:
		ids = n.Names
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
