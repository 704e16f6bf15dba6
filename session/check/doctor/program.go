package doctor

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/wire/process"
)

// environment is what the child gets.
func (r *run) environment() []string { return process.Environment(r.server.Env) }

// program finds the file that would run, the way the transport does, and looks at it without running it.
func (r *run) program(s *Step) {
	if r.server.Command == "" {
		s.skip("the entry has no command")
		return
	}
	env := r.environment()
	path, err := process.Lookup(r.server.Command, env, r.server.Cwd)
	switch {
	case errors.Is(err, process.ErrNotFound):
		r.notFound(s, env)
		return
	case err != nil:
		s.fail(failure.SpawnFailed, fmt.Sprintf("cannot start %q: %v", r.server.Command, process.Reason(err)), "check the command and the working folder")
		if errors.Is(err, os.ErrPermission) {
			s.Fix = "make the file executable, or start it by its interpreter"
		}
		r.blocked = cmp.Or(r.blocked, "there is no program to start")
		return
	}
	s.add(path)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		s.add("which is " + real)
	}
	if what, fix := unfit(path); what != "" {
		s.fail(failure.SpawnFailed, what, fix)
		return
	}
	for _, a := range r.server.Args { // a path that is not there is what most often is wrong
		if missing := r.missingPath(a); missing != "" {
			s.warn("an argument names a file that does not exist: "+missing, "correct the path in the arguments")
		}
	}
}

// notFound says where a program was looked for: in each folder of the PATH that the child would have, with names that are nearly the same.
func (r *run) notFound(s *Step, env []string) {
	s.fail(failure.SpawnFailed, fmt.Sprintf("command %q not found", r.server.Command), "install it, give its full path, or extend PATH")
	s.Remedy, s.Object = failure.SetVariable, "PATH"
	r.blocked = cmp.Or(r.blocked, "there is no program to start")
	if strings.ContainsAny(r.server.Command, " ") {
		s.Fix = "write the program alone as the command, and the rest as arguments"
		s.Remedy = ""
	}
	if how := installs[strings.TrimSuffix(filepath.Base(r.server.Command), ".exe")]; how != "" {
		s.Fix = "install " + how + ", give its full path, or extend PATH"
	}
	path := ""
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH") {
			path = v
		}
	}
	var like []string // at most three, from all folders
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		note := ""
		names, err := readNames(dir)
		if err != nil {
			note = " (" + process.Reason(err).Error() + ")"
		}
		s.add("not in " + dir + note)
		for _, name := range names {
			if near(r.server.Command, name) && len(like) < 3 && !slices.Contains(like, name) {
				like = append(like, name)
			}
		}
	}
	if len(like) > 0 {
		s.Fix = "did you mean " + strings.Join(like, " or ") + "? Else " + s.Fix
	}
}

// installs is where well-known runtimes come from.
var installs = map[string]string{
	"npx": "Node.js", "node": "Node.js", "npm": "Node.js", "uvx": "uv (astral.sh/uv)", "uv": "uv (astral.sh/uv)", "bunx": "Bun", "bun": "Bun",
	"deno": "Deno", "docker": "Docker", "python": "Python", "python3": "Python", "pipx": "pipx", "dnx": "the .NET SDK",
}

// readNames lists a folder, up to a bound.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(5000) // in any order: of a larger folder some names are not compared
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// near reports whether one name is a slip of the other: one character more, less or different, or two swapped.
func near(a, b string) bool {
	if len(a) < 3 || a == b { // short names are near to everything
		return false
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch {
	case x == "" || y == "":
		return len(x)+len(y) == 1
	case x[1:] == y[1:], x[1:] == y, x == y[1:]:
		return true
	}
	return len(x) > 1 && len(y) > 1 && x[0] == y[1] && x[1] == y[0] && x[2:] == y[2:]
}

// unfit looks at how a file begins: a script whose interpreter is not there, or a program for another processor.
func unfit(path string) (what, fix string) {
	f, err := os.Open(path)
	if err != nil {
		return "", "" // who may run it need not be able to read it
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head) // a shorter file is one, too
	head = head[:n]
	if line, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		first, _, whole := bytes.Cut(line, []byte("\n"))
		if whole && bytes.HasSuffix(first, []byte("\r")) {
			return "the first line of " + path + " ends in CR LF, so that its interpreter is not found", "save the script with LF line ends"
		}
		words := strings.Fields(string(first))
		if len(words) > 0 && filepath.IsAbs(words[0]) {
			if _, err := os.Stat(words[0]); err != nil {
				return "the interpreter " + words[0] + " of " + path + " does not exist", "install it, or correct the script's first line"
			}
		}
		return "", ""
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return "", ""
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return path + " is a damaged program: " + err.Error(), "install it again"
	}
	defer e.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	native := e.Machine == want || want == elf.EM_X86_64 && e.Machine == elf.EM_386 || want == elf.EM_AARCH64 && e.Machine == elf.EM_ARM
	if want != 0 && runtime.GOOS == "linux" && !native {
		return fmt.Sprintf("%s is for another processor (%s, this machine is %s)", path, e.Machine, want), "install the build for this machine"
	}
	return "", ""
}

// missingPath is the path that an argument names and that is not there; "" for all that need not be one.
func (r *run) missingPath(arg string) string {
	ext := strings.ToLower(filepath.Ext(arg))
	script := ext == ".js" || ext == ".mjs" || ext == ".cjs" || ext == ".ts" || ext == ".py" || ext == ".jar" || ext == ".dll"
	if strings.ContainsAny(arg, " =:\n") && !filepath.IsAbs(arg) || !script && !filepath.IsAbs(arg) || strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "@") {
		return ""
	}
	if filepath.Base(r.server.Command) == "docker" && !script { // it is one in the container
		return ""
	}
	path := arg
	if !filepath.IsAbs(path) {
		if r.server.Cwd == "" && !strings.ContainsRune(arg, filepath.Separator) && len(r.server.Args) > 0 && r.server.Args[0] != arg {
			return ""
		}
		path = filepath.Join(r.server.Cwd, path)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return arg
	}
	return ""
}
