package cmd_test

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// most is how many children a folder has, and sizes how many lines of Go without tests each room has at most: a room that grows says what goes for
// it, or why it may. The last row is the whole.
const most = 12

var sizes = []struct {
	path  string
	lines int
}{
	{"session/base", 6_750},
	{"session/config", 11_290},
	{"session/wire", 9_880},
	{"session/offer", 9_000},
	{"session/auth", 5_810},
	{"session/serve", 5_260},
	{"session", 5_690},
	{"session/client", 2_200},
	{"session/catalog", 4_340},
	{"session/traffic", 12_430},
	{"session/check", 28_600},
	{"session/test", 6_100},
	{"themes", 420},
	{"agentsrv", 28_850},
	{"proxy", 24_930},
	{"tui", 22_850},
	{"views", 29_300},
	{"cmd", 25_600},
	{"", 241_850},
}

// tests is how many lines all tests have.
const tests = 144_300

func TestRoomsStaySmall(t *testing.T) {
	lines, inTests := map[string]int{}, 0
	eachFile(t, func(file string, content []byte) {
		switch n := strings.Count(string(content), "\n"); {
		case !strings.HasSuffix(file, ".go"):
		case strings.HasSuffix(file, "_test.go"):
			inTests += n
		default:
			lines[roomOf(path.Dir(file))] += n
			lines[""] += n
		}
	})
	for _, s := range sizes {
		if n := lines[s.path]; n > s.lines {
			what := s.path
			if what == "" {
				what = "the whole module"
			}
			t.Errorf("%s has %d lines of Go without tests, its budget is %d: what is new pays for itself (CONTRIBUTING.md, The house); take something out, or say in the commit why not, and raise it in %s",
				what, n, s.lines, line(t, "cmd/rooms_test.go", `{"`+s.path+`",`))
		}
		if n := lines[s.path]; n < s.lines*9/10 {
			t.Errorf("%q has %d lines of Go without tests, and a budget of %d: lower it in %s, so that what was won stays", s.path, n, s.lines, line(t, "cmd/rooms_test.go", `{"`+s.path+`",`))
		}
	}
	if inTests > tests {
		t.Errorf("tests have %d lines, their budget is %d; see %s", inTests, tests, line(t, "cmd/rooms_test.go", "const tests"))
	}
}

// Every folder with packages below it has a page, README.md or the comment on its own package, that names each of them.
func TestFoldersSayWhatTheyHold(t *testing.T) {
	children := map[string]map[string]bool{}
	comments, pages := map[string]string{}, map[string]string{}
	eachFile(t, func(file string, content []byte) {
		dir := path.Dir(file)
		if path.Base(file) == "README.md" {
			pages[dir] = string(content)
		}
		if !strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata/") {
			return
		}
		if !strings.HasSuffix(file, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), file, content, parser.ParseComments|parser.PackageClauseOnly)
			require.NoError(t, err)
			comments[dir] += f.Doc.Text()
		}
		for at := dir; at != "."; at = path.Dir(at) {
			above := path.Dir(at)
			if children[above] == nil {
				children[above] = map[string]bool{}
			}
			children[above][path.Base(at)] = true
		}
	})
	for _, dir := range slices.Sorted(maps.Keys(children)) {
		names := slices.Sorted(maps.Keys(children[dir]))
		if len(names) > most {
			t.Errorf("%s has %d folders, %d are the limit: whoever looks for a thing reads all their names (CONTRIBUTING.md, The house); put together what belongs together: %s",
				dir, len(names), most, strings.Join(names, ", "))
		}
		if dir == "." {
			continue // CONTRIBUTING.md
		}
		for _, name := range names {
			if !strings.Contains(pages[dir]+comments[dir], name) {
				t.Errorf("%s/README.md does not say what %s/%s holds, nor does the comment on package %s", dir, dir, name, path.Base(dir))
			}
		}
	}
}
