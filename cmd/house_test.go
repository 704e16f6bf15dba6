// Package cmd_test keeps the rules of the house: where things live, which way
// imports run, how long files get, what public text may say.
package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require"
)

const module = "github.com/mcphud/mcphud"

// folders are the top-level folders, with the other folders whose packages each
// may import. Tests may import what they like, below cmd.
var folders = map[string][]string{
	"cmd":      {"session", "tui", "views", "agentsrv", "proxy", "themes"},
	"views":    {"tui", "session", "themes"},
	"tui":      {"session", "themes"},
	"agentsrv": {"session"},
	"proxy":    {"session"},
	"session":  {},
	"themes":   {},
	"testdata": {},
}

// longFiles are the files that are allowed more lines than others, with why.
var longFiles = map[string]string{}

// maxLines and maxTestLines are how long a file may get.
const (
	maxLines     = 500
	maxTestLines = 800
)

// root is the module's folder.
const root = ".."

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// folder is the top-level folder of a package of this module, "" for others.
func folder(path string) string {
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// packages asks go list, once for all tests.
func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	require.NoError(t, err)
	return list
}

var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, errors.New("go list found no package")
	}
	return list, nil
})

// upwards is why a package must not import another one because of the folders that they are in, "" if it may.
func upwards(from, to string) string {
	a, b := folder(from), folder(to)
	switch {
	case b != "" && b != a && !slices.Contains(folders[a], b):
		if len(folders[a]) == 0 {
			return a + " imports no other folder"
		}
		return a + " imports no other folder than " + strings.Join(folders[a], ", ")
	case to == "text/template" || to == "html/template":
		return "templates call methods by name, so that the linker keeps each exported one of all types that it sees"
	case a == "themes" && b == "" && strings.Contains(to, "."):
		return "themes are made of the standard library"
	}
	return ""
}

func TestImportsRunOneWay(t *testing.T) {
	all := packages(t)
	draws := map[string]bool{}
	for _, p := range all {
		draws[p.ImportPath] = slices.ContainsFunc(p.Deps, terminal)
	}
	for _, p := range all {
		from := folder(p.ImportPath)
		for _, path := range p.Imports {
			if why := upwards(p.ImportPath, path); why != "" {
				t.Errorf("%s imports %s; %s (CONTRIBUTING.md, The house); move the code up, or add the folder in %s", imports(t, p.ImportPath, path), short(path), why,
					line(t, "cmd/house_test.go", `"`+from+`":`))
			}
		}
		quiet := from == "session" || from == "agentsrv" || from == "proxy"
		if quiet && draws[p.ImportPath] && !slices.ContainsFunc(p.Imports, func(path string) bool { return draws[path] }) { // whom it has that from is named itself
			t.Errorf("%s depends on %s; %s draws nothing (CONTRIBUTING.md, The house); move what draws to tui or views", short(p.ImportPath),
				p.Deps[slices.IndexFunc(p.Deps, terminal)], from)
		}
	}
}

// short is the path of a package from the module's folder; that of another module stays.
func short(path string) string { return strings.TrimPrefix(path, module+"/") }

// imports is the file and line in which a package imports another.
func imports(t *testing.T, pkg, path string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(short(pkg)), "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ImportsOnly)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue // a file that is wrong is reported by the compiler
		}
		for _, i := range f.Imports {
			if i.Path.Value == strconv.Quote(path) {
				return fmt.Sprintf("%s/%s:%d", short(pkg), filepath.Base(file), fset.Position(i.Pos()).Line)
			}
		}
	}
	return short(pkg)
}

// line is the file, and the first line in which it has a text; without the line if it does not have it.
func line(t *testing.T, file, text string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	if before, _, found := bytes.Cut(b, []byte(text)); found {
		return fmt.Sprintf("%s:%d", file, bytes.Count(before, []byte("\n"))+1)
	}
	return file
}

// terminal tells whether a package draws on terminals.
func terminal(path string) bool {
	return strings.HasPrefix(path, "charm.land/") || strings.HasPrefix(path, "github.com/charmbracelet/")
}

// forTests tells whether a package has no place in the program.
func forTests(path string) bool {
	path = short(path)
	return path == "testing" || strings.HasPrefix(path, "session/test/") || slices.Contains([]string{"tui/tuitest", "agentsrv/queue/queuetest"}, path)
}

func TestTopLevelFolders(t *testing.T) {
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || name == "bin" || name == "dist" {
			continue // the last two are ignored by git
		}
		if _, ok := folders[name]; !ok {
			t.Errorf("folder %s has no place: everything lives in one of the folders of this test's table", name)
		}
	}
	files := []string{"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "go.mod", "go.sum"}
	eachFile(t, func(path string, _ []byte) {
		if !strings.Contains(path, "/") && !strings.HasPrefix(path, ".") && !slices.Contains(files, path) {
			t.Errorf("file %s has no place: everything but %v lives in a folder", path, files)
		}
	})
}

// ours are the paths that git would commit, each with a NUL behind it.
var ours = sync.OnceValues(func() ([]byte, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	return cmd.Output()
})

// eachFile calls f with every file that git would commit: its path from the
// module's folder, with slashes, and its bytes.
func eachFile(t *testing.T, f func(path string, content []byte)) {
	t.Helper()
	out, err := ours()
	if err != nil {
		t.Skipf("not in a git work tree, so nothing tells which files are ours: %v", err)
	}
	n := 0
	for path := range strings.SplitSeq(string(out), "\x00") {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if path == "" || errors.Is(err, os.ErrNotExist) {
			continue // the end of the list, or a file deleted and not committed yet
		}
		require.NoError(t, err)
		n++
		f(path, content)
	}
	if n == 0 {
		t.Fatal("git listed no file")
	}
}

func TestFilesStaySmall(t *testing.T) {
	eachFile(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		limit := maxLines
		if strings.HasSuffix(path, "_test.go") {
			limit = maxTestLines
		}
		lines := bytes.Count(content, []byte("\n"))
		if _, listed := longFiles[path]; lines > limit != listed {
			t.Errorf("%s has %d lines, the limit is %d, in the list of long files: %v", path, lines, limit, listed)
		}
	})
}

func TestPublicText(t *testing.T) {
	banned := []string{
		"/wo" + "rk/", "/tm" + "p/plan", "/tm" + "p/wt", // folders of one machine
		"proxy.golang" + ".org", "registry.npmjs" + ".org", // registries are the reader's own choice
		"TO" + "DO", "FIX" + "ME",
	}
	if host := goProxyHost(t); host != "" {
		banned = append(banned, host)
	}
	eachFile(t, func(path string, content []byte) {
		if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
			return
		}
		for _, word := range banned {
			if strings.HasPrefix(path, "session/catalog/registry/") && strings.HasPrefix(word, "registry.") { // which one a package comes from is what it decides
				continue
			}
			if before, _, found := bytes.Cut(content, []byte(word)); found {
				t.Errorf("%s:%d says %q", path, bytes.Count(before, []byte("\n"))+1, word)
			}
		}
	})
}

// goProxyHost is the host that this machine gets Go modules from.
func goProxyHost(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(out), "://")
	if !ok {
		return ""
	}
	return rest[:strings.IndexAny(rest+"/", "/,|\n")]
}

// Every exported name says what it is, and every package what it is for.
func TestExportedNamesAreDocumented(t *testing.T) {
	fset := token.NewFileSet()
	described := map[string]bool{} // by folder
	eachFile(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(fset, path, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		described[filepath.Dir(path)] = described[filepath.Dir(path)] || f.Doc != nil
		if f.Name.Name == "main" {
			return
		}
		for _, d := range f.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no comment", fset.Position(name.Pos()), name.Name)
			}
		}
	})
	for dir, yes := range described {
		if !yes {
			t.Errorf("the package in %s has no comment", dir)
		}
	}
}

// undocumented returns the exported names of a declaration that have neither a
// comment of their own nor one on their group. Methods that everybody knows the
// meaning of need none.
func undocumented(d ast.Decl) []*ast.Ident {
	var bare []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		wellKnown := d.Recv != nil && slices.Contains([]string{"Error", "String", "Unwrap", "MarshalJSON", "UnmarshalJSON"}, d.Name.Name)
		if d.Name.IsExported() && !wellKnown && d.Doc == nil && (d.Recv == nil || exportedType(d.Recv.List[0].Type)) {
			bare = append(bare, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					bare = append(bare, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						bare = append(bare, name)
					}
				}
			}
		}
	}
	return bare
}

// exportedType tells whether a receiver's type is exported.
func exportedType(x ast.Expr) bool {
	for {
		switch e := x.(type) {
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}

// Every relative link of a document leads to a file, and to a heading of it where it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`(?:\]\(|(?:src|srcset|href)=")([^)"#]*)(#[^)"]*)?[)"]`)
	eachDocument(t, func(doc string, text []byte) {
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to, heading := path.Join(path.Dir(doc), m[1]), strings.TrimPrefix(m[2], "#")
			if m[1] == "" {
				to = doc
			}
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(to)))
			if err != nil {
				t.Errorf("%s links to %s, which cannot be read: %v", doc, m[1], err)
			} else if heading != "" && !slices.Contains(headings(content), heading) {
				t.Errorf("%s links to the heading %s of %s, which is not there", doc, heading, to)
			}
		}
	})
}

// An address in this repository, which editors fetch a schema from, leads to a file of it.
func TestAddressesLeadHere(t *testing.T) {
	address := regexp.MustCompile(`raw\.githubusercontent\.com/mcphud/mcphud/main/([\w./-]+)`)
	eachFile(t, func(name string, content []byte) {
		for _, m := range address.FindAllSubmatch(content, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(string(m[1])))); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[0])
			}
		}
	})
}

// eachDocument calls f with each Markdown file that is for readers of the project: not with test data of packages.
func eachDocument(t *testing.T, f func(path string, text []byte)) {
	t.Helper()
	eachFile(t, func(path string, content []byte) {
		if strings.HasSuffix(path, ".md") && !strings.Contains(path, "/testdata/") && !strings.Contains(path, "/corpus/") {
			f(path, content)
		}
	})
}

// headings are the anchors that GitHub makes of a document's headings.
func headings(text []byte) (anchors []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(string(m[1])), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}

// The first page is short; everything else is a manual in its folder.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil || len(text) > 10_000 {
		t.Errorf("README.md has %d bytes, and at most 10,000 are read: %v", len(text), err)
	}
	// .ci/run takes the command for the tests from there.
	blocks := strings.Join(regexp.MustCompile("(?s)```sh\n.*?```").FindAllString(string(text), -1), "")
	if n := strings.Count(blocks, "\ngo test "); n != 1 {
		t.Errorf("README.md has %d lines \"go test …\" in sh blocks, not one", n)
	}
}

// A package too large to be read at once says in a README.md what is where.
func TestLargePackagesHaveAManual(t *testing.T) {
	const most = 2500
	lines, manual := map[string]int{}, map[string]bool{}
	eachFile(t, func(name string, content []byte) {
		dir := path.Dir(name)
		switch {
		case path.Base(name) == "README.md":
			manual[dir] = true
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			lines[dir] += bytes.Count(content, []byte("\n"))
		}
	})
	for dir, n := range lines {
		if n > most && !manual[dir] {
			t.Errorf("%s has %d lines and no README.md", dir, n)
		}
	}
}
