package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// mutant is one small fault in a file: some bytes of it that are replaced.
type mutant struct {
	dir, file string
	imported  string // the file, below the import path of its package
	line, col int
	text      string // of the line
	from, to  int    // offsets in the file
	with      string
	what      string // "< becomes <="
	rank      [32]byte
}

// swaps are operators and what a hurried author writes instead. What does not compile afterwards, as the difference of two strings, is left
// out of the sample.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
}

// isText reports whether an expression joins texts, as far as that is seen without types: what does not compile need not be tried.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	}
	return false
}

// mutantsOf lists the mutants of a file. Texts are left as they are, but for those that a switch compares with: what a message says is for
// readers to judge, and tests that repeat messages only make them hard to better.
func mutantsOf(dir, file string) (out []mutant, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(src), "\n")
	add := func(from, to token.Pos, with, what string) {
		at := set.Position(from)
		out = append(out, mutant{
			dir: dir, file: file, line: at.Line, col: at.Column, text: strings.TrimSpace(lines[at.Line-1]),
			from: at.Offset, to: set.Position(to).Offset, with: with, what: what,
		})
	}
	text := func(n ast.Node) string { return string(src[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]) }
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok && !isText(n) {
				add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String(), n.Op.String()+" becomes "+other.String())
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.End(), "!("+text(n.Cond)+")", "the condition is negated")
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.End(), strconv.Itoa(v+1), n.Value+" becomes "+strconv.Itoa(v+1))
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					add(e.Pos(), e.End(), strconv.Quote("\x00"+lit.Value), "case "+lit.Value+" is missing")
				}
			}
		case *ast.Ident:
			if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
				add(n.Pos(), n.End(), other, n.Name+" becomes "+other)
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
			add(n.Pos(), n.End(), "{}", "the statement is dropped")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add(n.Pos(), n.End(), "", "the statement is dropped")
			}
		case *ast.BranchStmt:
			add(n.Pos(), n.End(), "{}", n.Tok.String()+" is dropped")
		}
		return true
	})
	return out, nil
}
