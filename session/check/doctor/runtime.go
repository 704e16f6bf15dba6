package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/process"
)

// runtimes are the programs that run servers and tell their version, each with the one that it needs; "" for none.
var runtimes = map[string]string{
	"node": "", "npx": "node", "npm": "node", "pnpm": "node", "yarn": "node", "bun": "", "bunx": "", "deno": "", "uv": "", "uvx": "", "python": "", "python3": "",
	"pipx": "", "docker": "", "podman": "", "dnx": "dotnet", "dotnet": "", "java": "", "ruby": "", "php": "",
}

// versionTime is how long a program may take to tell its version.
const versionTime = 5 * time.Second

// runtime asks what runs the server for its version, and compares it with what the server's package wants. It runs the command of the
// entry, outside a sandbox, hence only known runtimes, and only where the entry may be started.
func (r *run) runtime(s *Step) {
	base := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(r.server.Command), ".exe"), ".cmd"))
	needs, known := runtimes[base]
	switch {
	case r.server.Command == "":
		s.skip("the entry has no command")
		return
	case r.step("program").Status == Failed:
		s.skip("there is no program to ask")
		return
	case r.blocked != "":
		s.skip(r.blocked)
		return
	case !known:
		s.skip(filepath.Base(r.server.Command) + " is not a known runtime")
		return
	}
	versions := map[string]string{} // by the name of the program, without folder and ending
	for _, name := range slices.Compact([]string{r.server.Command, needs}) {
		if name == "" {
			continue
		}
		v, err := r.version(name)
		short := strings.TrimSuffix(filepath.Base(name), ".exe")
		switch {
		case errors.Is(err, process.ErrNotFound):
			s.fail(failure.SpawnFailed, base+" needs "+name+", which is not found", "install "+name+", or extend PATH")
			return
		case err != nil && r.ctx.Err() != nil:
			s.fail(failure.KindOf(r.ctx.Err()), messageOf(r.ctx.Err()), "")
			return
		case err != nil:
			s.warn(short+" does not tell its version: "+err.Error(), "ask "+short+" for its version by hand to see what is wrong")
		default:
			s.add(short + " " + v)
			versions[short] = v
		}
	}
	if base == "docker" {
		if out, err := r.output("docker", "version", "--format", "{{.Server.Version}}"); err != nil {
			s.fail(failure.SpawnFailed, "the Docker daemon does not answer: "+err.Error(), "start Docker, and check that this user may use it")
		} else {
			s.add("daemon " + text.FirstLine(out))
		}
	}
	if file, wants := r.engines(); wants != "" {
		s.add("wanted by " + file + ": node " + wants)
		if have := versions["node"]; have != "" && !satisfies(have, wants) {
			s.warn("node "+have+" is not what the server wants: "+wants, "install a version of Node that fits, or name its full path as the command")
		}
	}
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+(?:\.\d+)?[\w.+-]*`) })

// version is what a program says of itself: the first number with a dot, else its first line.
func (r *run) version(name string) (string, error) {
	out, err := r.output(name, "--version")
	if err != nil {
		return "", err
	}
	if v := versionNumber().FindString(out); v != "" {
		return text.Clip(v, 60), nil
	}
	return text.Clip(text.FirstLine(strings.TrimSpace(out)), 60), nil
}

// output is what a program prints on both of its outputs, within bounds of time and size, in the environment that the child would have. It
// ends with all that it started. The error of one that failed is the first line that it wrote.
func (r *run) output(name string, args ...string) (string, error) {
	env := r.environment()
	path, err := process.Lookup(name, env, r.server.Cwd)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	process.Group(cmd)
	cmd.Cancel = func() error {
		process.SignalGroup(cmd.Process.Pid, process.Kill)
		return nil
	}
	var out bounded
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, r.server.Cwd, &out, &out, 500*time.Millisecond
	err = cmd.Run()
	switch {
	case ctx.Err() != nil && r.ctx.Err() == nil:
		return "", errors.New("no answer within " + text.Duration(versionTime))
	case err != nil:
		if said := text.FirstLine(strings.TrimSpace(out.String())); said != "" {
			return "", errors.New(text.Clip(said, 200))
		}
		return "", err
	}
	return out.String(), nil
}

// bounded keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	const most = 16 << 10                                           // bytes; a version is in the first of them
	_, _ = b.Buffer.Write(p[:min(len(p), most-min(b.Len(), most))]) // never fails
	return len(p), nil
}

// engines is what the package of the server's script wants of Node, and where it says so.
func (r *run) engines() (file, wants string) {
	for _, arg := range r.server.Args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if ext := filepath.Ext(arg); ext != ".js" && ext != ".mjs" && ext != ".cjs" {
			return "", ""
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.server.Cwd, path)
		}
		if path, err := filepath.Abs(path); err == nil {
			return enginesAbove(filepath.Dir(path))
		}
	}
	return "", ""
}

// enginesAbove goes up to the nearest package.json, which is the package's own, whether or not it says what it wants.
func enginesAbove(dir string) (file, wants string) {
	for {
		file = filepath.Join(dir, "package.json")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			b, err := os.ReadFile(file)
			var p struct{ Engines struct{ Node string } }
			if err != nil || json.Unmarshal(b, &p) != nil {
				return "", ""
			}
			return file, text.Clip(p.Engines.Node, 80)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}

// satisfies reports whether a version is in a range as package.json writes it: comparators, ^, ~ and x, joined by blanks and ||.
// What it cannot read is taken to fit.
func satisfies(version, wanted string) bool {
	have, ok := numbers(version)
	if !ok {
		return true
	}
	for alternative := range strings.SplitSeq(wanted, "||") {
		fits := true
		words := strings.Fields(strings.NewReplacer(">= ", ">=", "<= ", "<=", "> ", ">", "< ", "<", "^ ", "^", "~ ", "~").Replace(strings.Join(strings.Fields(alternative), " ")))
		if len(words) == 3 && words[1] == "-" {
			words = []string{">=" + words[0], "<=" + words[2]}
		}
		for _, w := range words {
			fits = fits && compares(have, w)
		}
		if fits {
			return true
		}
	}
	return false
}

// compares reports whether a version satisfies one comparator. Parts that are left out or x match anything, so that >18 is 19 and up, as
// npm has it (https://github.com/npm/node-semver#ranges). What comes before a release counts as the release.
func compares(have [3]int, word string) bool {
	op := word[:len(word)-len(strings.TrimLeft(word, "<>=^~v"))]
	rest := word[len(op):]
	op = strings.TrimSuffix(op, "v")
	n := 0 // how many numbers are given
	var want [3]int
	for part := range strings.SplitSeq(rest, ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		if digits == "" || n == 3 {
			break
		}
		want[n], _ = strconv.Atoi(digits) // digits only
		n++
	}
	if n == 0 {
		return true // * or x, or nothing that we know
	}
	c := slices.Compare(have[:], want[:])
	same := slices.Equal(have[:n], want[:n])
	switch op {
	case ">=":
		return c >= 0
	case ">":
		return c > 0 && !same
	case "<":
		return c < 0
	case "<=":
		return c <= 0 || same
	case "^":
		return c >= 0 && have[0] == want[0]
	case "~":
		return c >= 0 && slices.Equal(have[:min(n, 2)], want[:min(n, 2)])
	}
	return same
}

// numbers are major, minor and patch; parts that are missing are 0. ok is false for what does not begin with a number.
func numbers(version string) (out [3]int, ok bool) {
	for i, part := range strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3) {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		v, err := strconv.Atoi(digits)
		if err != nil {
			return out, false
		}
		out[i] = v
	}
	return out, true
}
