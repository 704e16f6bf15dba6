package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms are the folders of packages, from the bottom up, with the others that each may import. Packages of one room may import each other,
// which the compiler keeps from going round; parts says where they may not. A new arrow is written down here on purpose, and leads to
// a row above its own.
var rooms = []struct{ path, may string }{
	{"themes", ""},
	{"session/base", ""},
	{"session/config", "session/base"},
	{"session/wire", "session/base session/config"},
	{"session/offer", "session/base"},
	{"session/auth", "session/base session/config session/offer session/wire"},
	{"session/serve", "session/base session/config session/wire"},
	{"session", "session/auth session/base session/config session/offer session/wire"},
	{"session/client", "session session/base session/config session/offer session/wire"},
	{"session/catalog", "session session/base session/config session/offer session/wire"},
	{"session/traffic", "session session/base session/client session/config session/offer session/serve session/wire"},
	{"session/check", "session session/auth session/base session/catalog session/config session/offer session/traffic session/wire"},
	{"session/test", "session session/auth session/base session/config session/serve session/wire"},
	{"agentsrv", "session/base session/offer session/serve session/wire"},
	{"proxy", "session session/auth session/base session/client session/config session/offer session/serve session/wire"},
	{"tui", "session session/base session/client session/config session/offer session/test session/wire themes"},
	{"views", "session session/auth session/base session/catalog session/check session/client session/config session/offer session/serve session/traffic session/wire tui"},
	{"cmd", "agentsrv proxy session session/auth session/base session/catalog session/check session/client session/config session/offer session/serve session/traffic session/wire themes tui views"},
}

// roomOf is the room that a package of this module is in, "" for none: the longest path of one that the package's begins with.
func roomOf(pkg string) (room string) {
	for _, r := range rooms {
		if (pkg == r.path || strings.HasPrefix(pkg, r.path+"/")) && len(r.path) > len(room) {
			room = r.path
		}
	}
	return room
}

// parts are the folders whose packages know nothing of each other, with the few that all of them share. cousins are the
// exceptions.
var (
	parts = map[string]string{
		"agentsrv": "agentsrv/kit agentsrv/front",
		"proxy":    "proxy/flow proxy/routes proxy/sessions",
		"views":    "views/pages views/pane views/shell",
		"cmd":      "cmd/cli cmd/cli/flags cmd/cli/output cmd/cli/report cmd/cli/runner cmd/cli/settings",
	}
	cousins = map[string]string{
		"agentsrv/tools/kb":        "agentsrv/tools/kb/wordvec", // one of its ways to compare meanings
		"agentsrv/check/checktest": "agentsrv/check",            // for tests
		"agentsrv/queue/stream":    "agentsrv/queue",            // the same, shared
		"agentsrv/queue/queuetest": "agentsrv/queue",            // what both have to pass
		"proxy/tap/wrap":           "proxy/tap",                 // the producer of what tap shows
		"proxy/tap/running":        "proxy/tap/wrap",            // how a command line is named
		"cmd/ui":                   "cmd/verb/check",            // what the UI examines servers by
		"cmd/verb/servers":         "cmd/ui",                    // open ends in it
		"cmd/verb/serve":           "cmd/ui cmd/verb/serve/options",
		"cmd/verb/config":          "cmd/verb/serve/options", // explains them
		"cmd/verb/inspect":         "cmd/inspector",          // whose command line it takes
		"cmd/mcphud":               "cmd/inspector cmd/ui cmd/verb/call cmd/verb/check cmd/verb/config cmd/verb/inspect cmd/verb/login cmd/verb/serve cmd/verb/servers cmd/verb/sessions cmd/verb/traffic",
	}
)

// table is this file, to which messages point.
const table = "cmd/arrows_test.go"

// deepest is how many packages of the module stand on each other below session, session included.
const deepest = 11

func TestArrowsBelowTheTop(t *testing.T) {
	used := map[string][]string{}
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue
		}
		from := roomOf(name)
		for _, path := range p.Imports {
			to, ok := strings.CutPrefix(path, module+"/")
			if !ok {
				continue
			}
			room := roomOf(to)
			above, _, below := strings.Cut(name, "/")
			switch common, divided := parts[above]; {
			case divided && below && strings.HasPrefix(to, above+"/"):
				if !slices.Contains(strings.Fields(common+" "+cousins[name]), to) {
					t.Errorf("%s imports %s; parts of %s know nothing of each other but %s (CONTRIBUTING.md, The house); put them together in %s, or name the pair in %s",
						imports(t, p.ImportPath, path), to, above, strings.Join(strings.Fields(common), ", "), above, line(t, table, "cousins = map"))
				}
			case room == from || upwards(p.ImportPath, path) != "": // or TestImportsRunOneWay says so
			case room == "session/test" && !forTests(name):
				t.Errorf("%s imports %s; what tests use has no place in the program (CONTRIBUTING.md, The house); move what the program needs out of it",
					imports(t, p.ImportPath, path), to)
			default:
				if used[from] = append(used[from], room); !allowed(from, room) {
					t.Errorf("%s imports %s; %s (CONTRIBUTING.md, The house); move the code up, or add the arrow in %s",
						imports(t, p.ImportPath, path), to, stands(from), line(t, table, `{"`+from+`",`))
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range rooms {
		for to := range strings.FieldsSeq(r.may) {
			if !seen[to] {
				t.Errorf("%s may import %s, which is no row above its own: arrows lead one way; take it out of %s", r.path, to, line(t, table, `{"`+r.path+`",`))
			}
			if to != "session/test" && !slices.Contains(used[r.path], to) {
				t.Errorf("%s does not import %s any more; take it out of %s", r.path, to, line(t, table, `{"`+r.path+`",`))
			}
		}
		seen[r.path] = true
	}
}

// allowed tells whether packages of a room may import those of another one.
func allowed(from, to string) bool {
	for _, r := range rooms {
		if r.path == from {
			return slices.Contains(strings.Fields(r.may), to)
		}
	}
	return false
}

// stands says on what a room stands.
func stands(room string) string {
	for _, r := range rooms {
		if r.path == room && r.may != "" {
			return room + " stands on " + strings.Join(strings.Fields(r.may), ", ")
		}
	}
	return room + " stands on nothing of ours"
}

// TestNoPackageIsDeep: whoever reads session reads at most so many packages on the way down.
func TestNoPackageIsDeep(t *testing.T) {
	all := map[string][]string{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p.Imports
	}
	var depth func(path string) int
	depth = func(path string) int {
		most := 0
		for _, to := range all[path] {
			if _, ours := all[to]; ours {
				most = max(most, depth(to))
			}
		}
		return most + 1
	}
	for path := range all {
		if d := depth(path); folder(path) == "session" && d > deepest {
			t.Errorf("%s stands on %d packages, one on the other; %d are the limit, which is in %s", short(path), d-1, deepest-1, line(t, table, "const deepest"))
		}
	}
}

// What can be done about an error is a failure.Remedy, which surfaces word: below cmd nothing knows flags, and what has no
// screen knows neither keys nor screens.
func TestTextsBelowCmdNameNoFlagsOrKeys(t *testing.T) {
	var (
		flag = regexp.MustCompile(`(^|[\s("'` + "`" + `=;,])--[a-z][a-z-]+`)
		key  = regexp.MustCompile(`(?i)\b(press|hit) [a-z0-9]\b|ctrl\+[a-z]|\bthe (terminal UI|traffic (view|screen))\b`)
	)
	fset := token.NewFileSet()
	eachFile(t, func(path string, content []byte) {
		above := folder(module + "/" + path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || above == "cmd" || above == "testdata" ||
			strings.HasPrefix(path, "views/shell/") || strings.HasPrefix(path, "session/serve/fault/") { // command lines, and attacks
			return
		}
		f, err := parser.ParseFile(fset, path, content, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || !strings.Contains(text, " ") {
				return true // one word is an argument of a child process, not a text
			}
			if flag.MatchString(text) {
				t.Errorf("%s names a flag: %q", fset.Position(lit.Pos()), text)
			}
			if above != "tui" && above != "views" && key.MatchString(text) {
				t.Errorf("%s names a key or a screen: %q", fset.Position(lit.Pos()), text)
			}
			return true
		})
	})
}

// What tests run as servers is not part of the program, which would grow by half and start later.
func TestServersOfTestsAreNotLinked(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != module+"/cmd/mcphud" {
			continue
		}
		for _, dep := range p.Deps {
			if forTests(dep) || strings.HasPrefix(dep, "github.com/nats-io/nats-server/") || strings.HasSuffix(dep, "test") && strings.HasPrefix(dep, "github.com/mcphud/") {
				t.Errorf("cmd/mcphud depends on %s, which is for tests; go mod why, or go list -deps, says from where", short(dep))
			}
		}
		return
	}
	t.Error("cmd/mcphud is not listed")
}
