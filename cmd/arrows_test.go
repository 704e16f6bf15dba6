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

// arrows are the packages with the other packages of this module that each imports. Those below session leave out
// "session/". A new arrow is written down here on purpose, and points downwards: see TestNoPackageIsDeep.
var arrows = map[string]string{
	"session":                       "auth backoff config failure journal jsonrpc offer pending rpc setup tasks text transport",
	"session/traffic/again":         "session compare journal jsonrpc offer rpc toolset",
	"session/serve/agentclient":     "certs config failure ingress jsonrpc mask telemetry text",
	"session/base/files":            "text",
	"session/auth":                  "atomicfile config diagnosis failure journal jsonrpc listen mask process text transport",
	"session/auth/browser":          "auth failure listen mask process text",
	"session/test/authtest":         "auth config faketest faketest/behave",
	"session/auth/credstore":        "atomicfile auth setup text",
	"session/base/failure":          "",
	"session/test/budget":           "text",
	"session/test/budget":           "listen",
	"session/traffic/calls":         "atomicfile config expect failure history jsonrpc yamlfile",
	"session/catalog/card":          "session config jsonrpc listen mask offer text transport",
	"session/wire/certs":            "atomicfile",
	"tui":                           "",
	"session/test/certtest":         "",
	"session/check":                 "session config failure journal journal/expert jsonrpc mask offer text",
	"session/check/cases":           "check expect text",
	"session/check/contract":        "atomicfile check failure filewatch history journal journal/importer jsonrpc mask offer schema secret text",
	"session/check/lint":            "session check jsonrpc offer schema text",
	"session/check/safety":          "check check/contract journal jsonrpc mask offer schema text",
	"session/check/conform":         "auth check config failure journal journal/expert jsonrpc listen mask offer process schema session sse tasks text transport",
	"session/check/cost":            "check jsonrpc offer text",
	"session/check/bench":           "session check load offer",
	"session/check/ignore":          "atomicfile check config jsonrpc text yamlfile",
	"session/check/report":          "check text",
	"session/check/fuzz":            "atomicfile check check/fuzz/values config failure journal journal/expert jsonrpc mask offer rpc schema session text",
	"session/check/fuzz":            "offer schema",
	"session/serve/chat":            "config text transport",
	"session/auth/consent":          "jsonrpc mask offer text",
	"session/traffic/compare":       "jsonrpc text",
	"session/config":                "atomicfile config/rewrite confine filewatch mask setup text",
	"session/config/rewrite":        "",
	"session/catalog/described":     "atomicfile config failure mask mcpb registry setup text transport",
	"session/base/confine":          "",
	"session/wire/diagnosis":        "failure text",
	"session/check/doctor":          "session auth card config diagnosis failure journal journal/expert jsonrpc listen mask offer process schema text transport",
	"session/serve/duplex":          "config failure ingress jsonrpc sse transport",
	"session/traffic/expect":        "compare failure jsonrpc offer schema secret text",
	"session/base/failure":          "",
	"session/test/faketest":         "config faketest/behave",
	"session/test/faketest/behave":  "fault/payload",
	"session/test/faketest/fakemcp": "faketest/behave",
	"session/serve/fault":           "jsonrpc",
	"session/serve/fault":           "",
	"session/base/files":            "",
	"session/traffic/history":       "session config confine failure jsonrpc mask offer secret store text",
	"session/serve/idle":            "",
	"session/serve/ingress":         "jsonrpc text",
	"session/config/inputs":         "atomicfile config secret",
	"session/wire/journal":          "jsonrpc mask text",
	"session/check/live":            "journal jsonrpc mask schema text",
	"session/traffic/export":        "journal journal/filter",
	"session/traffic/export":        "journal journal/edit journal/expert journal/har jsonrpc text",
	"session/traffic/importer":      "",
	"session/traffic/redact":        "journal jsonrpc mask secret",
	"session/traffic/importer":      "journal journal/har jsonrpc mask sse text",
	"session/traffic/filter":        "journal text",
	"session/traffic/stats":         "journal journal/filter",
	"session/traffic/trace":         "journal jsonrpc mask text",
	"session/test/journaltest":      "journal",
	"session/base/jsonrpc":          "",
	"session/test/leaktest":         "budget",
	"session/serve/limit":           "jsonrpc",
	"session/base/listen":           "",
	"session/test/porttest":         "",
	"session/check/bench":           "session auth config failure jsonrpc mask offer sse text transport",
	"session/base/mask":             "",
	"session/catalog/mcpb":          "atomicfile config process setup text",
	"session/client/mcpgo":          "session config failure jsonrpc transport",
	"session/serve/natsconn":        "mask",
	"session/test/natstest":         "certs/certtest listen/porttest",
	"session/offer":                 "failure jsonrpc text",
	"session/traffic/stats":         "journal",
	"session/serve/outbox":          "",
	"session/test/peertest":         "config listen/porttest process",
	"session/offer/pending":         "failure jsonrpc listen text",
	"session/client/persona":        "session config jsonrpc offer text",
	"session/wire/process":          "confine",
	"session/wire/rpc":              "failure journal jsonrpc text transport",
	"session/offer/schema":          "text",
	"session/base/mask":             "jsonrpc mask",
	"session/test/sessiontest":      "session config journal jsonrpc transport",
	"session/config/setup":          "text",
	"session/client/skills":         "session config failure jsonrpc offer rpc text",
	"session/wire/sse":              "",
	"session/base/store":            "",
	"session/test/pgtest":           "",
	"session/offer/tasks":           "backoff failure jsonrpc text",
	"session/serve/telemetry":       "config journal journal/trace jsonrpc mask transport",
	"session/base/text":             "",
	"session/client/toolset":        "session config failure offer rpc text",
	"session/wire/transport":        "backoff certs config confine diagnosis failure journal jsonrpc listen mask process sse text",
	"tui":                           "session session/base/files tui session/base/failure session/wire/journal session/base/jsonrpc session/base/mask session/wire/rpc session/base/text themes tui/paint tui/picture tui/safe tui/widget",
	"session/config/userconfig":     "config mask text",
	"session/config/yamlfile":       "config jsonrpc",
	"tui/form":                      "session/offer/schema session/base/text tui/paint tui/safe tui/widget",
	"tui/paint":                     "themes",
	"tui/picture":                   "tui/paint",
	"tui/safe":                      "session/base/text",
	"tui/themefile":                 "session/config session/base/text themes",
	"tui/tuitest":                   "session session/config session/test/leaktest session/client/mcpgo session/wire/transport tui",
	"tui/widget":                    "session/base/text themes tui/paint tui/picture tui/safe",
	"views":                         "session session/traffic/again session/base/files session/auth session/auth/browser session/traffic/calls session/catalog/card tui session/serve/chat session/check session/check/contract session/check/cost session/traffic/compare session/config session/auth/consent session/catalog/described session/check/doctor session/traffic/expect session/base/failure session/traffic/history session/config/inputs session/wire/journal session/check/live session/traffic/filter session/traffic/stats session/traffic/trace session/base/jsonrpc session/base/mask session/offer session/offer/pending session/catalog/mcpb session/client/persona session/catalog/registry session/wire/rpc session/offer/schema session/base/mask session/config/setup session/client/skills session/offer/tasks session/base/text session/client/toolset tui tui/form tui/paint tui/safe tui/widget views/pane views/shell",
	"views/pane":                    "session session/traffic/again session/auth session/check/cost session/traffic/compare session/config session/wire/diagnosis session/base/failure session/wire/journal session/traffic/filter session/base/jsonrpc session/base/mask session/offer session/offer/pending session/wire/rpc session/offer/schema session/client/skills session/base/text tui tui/paint tui/safe tui/widget views/shell",
	"views/shell":                   "session session/config session/wire/journal session/base/mask tui/safe",

	"session/catalog/registry":  "atomicfile config failure listen mask setup text transport",
	"session/test/registrytest": "",
}

// parts are the folders whose packages know nothing of each other, with the few that all of them share. cousins are the
// exceptions.
var (
	parts = map[string]string{
		"agentsrv": "agentsrv/kit agentsrv/front",
		"proxy":    "proxy/flow proxy/routes proxy/sessions proxy/socket",
	}
	cousins = map[string]string{
		"agentsrv/kb":              "agentsrv/kb/wordvec", // one of its ways to compare meanings
		"agentsrv/queue/stream":    "agentsrv/queue",      // the same, shared
		"agentsrv/queue/queuetest": "agentsrv/queue",      // what both have to pass
		"proxy/tap/wrap":           "proxy/tap",           // the producer of what tap shows
		"proxy/tap/running":        "proxy/tap/wrap",      // how a command line is named
	}
)

// table is this file, to which messages point.
const table = "cmd/arrows_test.go"

// deepest is how many packages of the module stand on each other below session, session included.
const deepest = 11

func TestArrowsBelowTheTop(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, module+"/")
		if !ok {
			continue
		}
		seen[name] = true
		var ours []string
		for _, path := range p.Imports {
			if to, ok := strings.CutPrefix(path, module+"/"); ok {
				ours = append(ours, to)
			}
		}
		above, _, below := strings.Cut(name, "/")
		if common, divided := parts[above]; divided && below {
			for _, to := range ours {
				if strings.HasPrefix(to, above+"/") && !slices.Contains(strings.Fields(common+" "+cousins[name]), to) {
					t.Errorf("%s imports %s; parts of %s know nothing of each other but %s (CONTRIBUTING.md, The house); put them together in %s, or name the pair in %s",
						imports(t, p.ImportPath, module+"/"+to), to, above, strings.Join(strings.Fields(common), ", "), above, line(t, table, "cousins = map"))
				}
			}
			continue
		}
		list, listed := arrows[name]
		if !listed {
			if slices.Contains([]string{"session", "tui", "views"}, above) {
				t.Errorf("%s has no row; what it imports is written down on purpose (CONTRIBUTING.md, The house); add it in %s", name, line(t, table, "var arrows"))
			}
			continue
		}
		allowed := strings.Fields(list)
		if above == "session" {
			for i, to := range allowed {
				if to != "session" {
					allowed[i] = "session/" + to
				}
			}
		}
		for _, to := range ours {
			if !slices.Contains(allowed, to) && upwards(p.ImportPath, module+"/"+to) == "" { // or TestImportsRunOneWay says so
				t.Errorf("%s imports %s, which its row does not have; imports of %s are written down on purpose (CONTRIBUTING.md, The house); do without, or add it in %s",
					imports(t, p.ImportPath, module+"/"+to), to, above, line(t, table, `"`+name+`":`))
			}
		}
		for _, to := range allowed {
			if !slices.Contains(ours, to) {
				t.Errorf("%s does not import %s any more; take it out of %s", name, to, line(t, table, `"`+name+`":`))
			}
		}
	}
	for name := range arrows {
		if !seen[name] {
			t.Errorf("%s has %s, which is no package; take the row out", line(t, table, `"`+name+`":`), name)
		}
	}
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
