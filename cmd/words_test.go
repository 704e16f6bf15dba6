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
	"unicode"
)

// privateWords are words that only the authors of a program understand, with what the field says instead. They are not part of
// any identifier.
var privateWords = map[string]string{
	"sitting":   "exchange",
	"strand":    "stream",
	"poke":      "wake",
	"nudge":     "notify",
	"hurry":     "deadline",
	"told":      "delivered, notified",
	"lent":      "borrowed, upstreamSession",
	"aside":     "side channel",
	"park":      "pending",
	"parked":    "pending",
	"outdate":   "invalidate",
	"widen":     "grow",
	"mood":      "health",
	"insider":   "internal caller",
	"catalogue": "list",
}

// privateVerbs are names that say nothing as the whole name of a function or type.
var privateVerbs = map[string]string{
	"say": "log, write", "Say": "Write", "tell": "notify", "Tell": "Notify", "carry": "forward", "want": "require",
}

// riddles are texts that were in messages and comments, with what says the same plainly.
var riddles = map[string]string{
	"is not remembered across restarts":   "cannot save …: changes made while it is down will go unnoticed",
	"spoke unasked":                       "unexpected data",
	"call each other in a circle":         "too many hops: routing loop",
	"wrote what is no message":            "wrote a line that is not JSON-RPC",
	"it is not waited for any more":       "continues in the background",
	"fails all the time":                  "circuit breaker open after n failures",
	"left alone for a while":              "circuit breaker open; next try in …",
	"what was wrong is in order":          "recovered",
	"or nobody gives it":                  "source: flag, environment, file or default",
	"for a sign of life":                  "ping … and show the round-trip time",
	"asked for too many different things": "too many distinct capability sets",
	"is not what it was when it was":      "changed since first seen",
	"are too many to check against":       "exceeds the limit for schema validation",
	"see what is in its way":              "see its log",
	"100 is all requests":                 "the percentages add up to more than 100",
	"Who reads too slowly":                "a slow reader",
	"that cannot be is":                   "an invalid value is",
	"is warned of":                        "logs a warning about",
	"says of itself that":                 "is marked as",
	"means nothing to":                    "does not apply to",
	"has had enough":                      "closed the output",
	"nobody is asked who they are":        "without authentication",
	"let go of the name":                  "the name is removed",
}

// isNo is German in English words: "it is no JSON" for "it is not valid JSON". "There is no such tool" is not.
var isNo = regexp.MustCompile(`(?i)(?:^|\b(\w+)) (?:is|are) no (\w+)`)

// notValid returns where a text says that something "is no" thing, "" if nowhere.
func notValid(text string) string {
	if !strings.Contains(text, " no ") {
		return ""
	}
	for _, m := range isNo.FindAllStringSubmatch(text, -1) {
		if before, after := strings.ToLower(m[1]), m[2]; !slices.Contains([]string{"there", "0", "negative"}, before) && !slices.Contains([]string{"longer", "more", "bound", "limit", "reason"}, after) {
			return strings.TrimSpace(m[0])
		}
	}
	return ""
}

// riddle returns the plain words for a text that has one of the riddles, "" if it has none.
func riddle(text string) (found, plain string) {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "//", " ")), " ")
	for bad, good := range riddles {
		if strings.Contains(text, bad) {
			return bad, good
		}
	}
	return "", ""
}

// Words that nobody outside of the project knows do not come back: not in names, not in comments, messages and documents.
func TestPrivateWords(t *testing.T) {
	fset := token.NewFileSet()
	eachDocument(t, func(path string, text []byte) {
		if bad, good := riddle(string(text)); bad != "" {
			t.Errorf("%s says %q; better: %s", path, bad, good)
		}
	})
	eachFile(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") || path == "cmd/words_test.go" {
			return
		}
		f, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		report := func(pos token.Pos, bad, good string) {
			t.Errorf("%s: %q; better: %s", fset.Position(pos), bad, good)
		}
		for _, c := range f.Comments {
			if bad, good := riddle(c.Text()); bad != "" {
				report(c.Pos(), bad, good)
			}
			if bad := notValid(c.Text()); bad != "" {
				report(c.Pos(), bad, "is not a …")
			}
		}
		test := strings.HasSuffix(path, "_test.go")
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || err != nil {
					break
				}
				if bad, good := riddle(text); bad != "" {
					report(n.Pos(), bad, good)
				}
				if bad := notValid(text); bad != "" && !test {
					report(n.Pos(), bad, "is not a valid …")
				}
			case *ast.Ident:
				for _, word := range nameWords(n.Name) {
					if good := privateWords[word]; good != "" && !test {
						report(n.Pos(), n.Name, good)
					}
				}
			case *ast.FuncDecl:
				if good := privateVerbs[n.Name.Name]; good != "" && !test {
					report(n.Pos(), n.Name.Name, good)
				}
			case *ast.TypeSpec:
				if good := privateVerbs[n.Name.Name]; good != "" && !test {
					report(n.Pos(), n.Name.Name, good)
				}
			}
			return true
		})
	})
}

// nameWords are the words of an identifier, in lower case and without digits: of HTTPClient2 http and client.
func nameWords(name string) (words []string) {
	r := []rune(name)
	from := 0
	for i := 1; i <= len(r); i++ {
		within := i < len(r) && r[i] != '_' && unicode.IsDigit(r[i]) == unicode.IsDigit(r[i-1]) &&
			(!unicode.IsUpper(r[i]) || unicode.IsUpper(r[i-1]) && (i+1 == len(r) || !unicode.IsLower(r[i+1])))
		if within {
			continue
		}
		if w := strings.ToLower(strings.Trim(string(r[from:i]), "_0123456789")); w != "" {
			words = append(words, w)
		}
		from = i
	}
	return words
}
