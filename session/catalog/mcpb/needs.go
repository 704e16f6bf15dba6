package mcpb

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/process"
)

// versionTime is how long a runtime may take to tell its version.
const versionTime = 5 * time.Second

// runtimes are the programs that are asked for their version before anybody trusted the bundle, with what manifests call them: what a
// publisher names is not run.
var runtimes = map[string]string{"node": "node", "bun": "bun", "deno": "deno", "python": "python", "python3": "python", "uv": "uv", "uvx": "uv"}

// Missing are what the bundle's server lacks on this machine, as far as that is seen without starting anything.
func (b *Bundle) Missing(s config.Server) []string {
	if filepath.IsAbs(s.Command) {
		return nil
	}
	if strings.ContainsAny(s.Command, `/\`) { // a command of the bundle is absolute, in the folder where it is unpacked
		return []string{text.Clip(s.Command, 60) + " is not in the bundle: it would be looked for in the folder where that is unpacked"}
	}
	if _, err := process.Lookup(s.Command, process.Filtered(s.Env), ""); err != nil {
		return []string{text.Clip(s.Command, 60) + " is not on this machine: " + install(b.Manifest.Server.Type)}
	}
	return nil
}

// Needs are what [Bundle.Missing] says, and whether the runtime has a version that will do. A well-known runtime in PATH is asked for that,
// and nothing of the bundle.
func (b *Bundle) Needs(ctx context.Context, s config.Server) []string {
	if missing := b.Missing(s); missing != nil {
		return missing
	}
	want := b.Manifest.Compatibility.Runtimes[runtimes[s.Command]]
	if want == "" {
		return nil
	}
	env := process.Filtered(nil)
	path, err := process.Lookup(s.Command, env, "")
	if err != nil {
		return nil // the bundle brings a PATH of its own
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, filepath.Dir(path), time.Second // not in a project, whose files a version manager reads
	out, err := cmd.CombinedOutput()
	has := versionNumber.FindString(string(out))
	if err != nil || has == "" {
		return []string{fmt.Sprintf("%s does not tell its version, and %s is wanted", s.Command, text.Clip(want, 60))}
	}
	if ok, known := satisfiesRange(has, want); known && !ok {
		return []string{fmt.Sprintf("%s is %s, and %s is wanted", s.Command, has, text.Clip(want, 60))}
	}
	return nil
}

func install(kind string) string {
	switch kind {
	case "node":
		return "install Node.js"
	case "python":
		return "install Python"
	case "uv":
		return "install uv"
	}
	return "install it"
}

var (
	versionNumber = regexp.MustCompile(`\d+(\.\d+)*`)
	comparator    = regexp.MustCompile(`^(>=|<=|>|<|=|==|\^|~|~=)?\s*v?(\d+(?:\.\d+)*)(?:\.[x*])*$`)
)

// satisfiesRange reports whether a version satisfies a range such as ">=16.0.0 <20 || ^22"; known is false where the range is not understood.
func satisfiesRange(version, wanted string) (ok, known bool) {
	for alternative := range strings.SplitSeq(wanted, "||") {
		fits := true
		alternative = strings.ReplaceAll(alternative, ",", " ")
		for _, op := range []string{">=", "<=", "~=", "==", ">", "<", "^", "~"} {
			alternative = strings.ReplaceAll(alternative, op+" ", op)
		}
		for _, word := range strings.Fields(alternative) {
			if word == "*" {
				continue
			}
			m := comparator.FindStringSubmatch(word)
			if m == nil {
				return false, false
			}
			fits = fits && satisfiesOp(version, m[1], m[2])
		}
		ok = ok || fits
	}
	return ok, true
}

func satisfiesOp(version, op, wanted string) bool {
	v, w := numbers(version), numbers(wanted)
	same := func(n int) bool { // in the first n numbers
		for i := range min(n, len(w)) {
			if at(v, i) != w[i] {
				return false
			}
		}
		return true
	}
	c := 0
	for i := range max(len(v), len(w)) {
		if d := at(v, i) - at(w, i); d != 0 {
			c = d
			break
		}
	}
	switch op {
	case ">=":
		return c >= 0
	case ">":
		return c > 0
	case "<=":
		return c <= 0
	case "<":
		return c < 0
	case "^":
		n := 1
		for n < len(w) && w[n-1] == 0 { // ^0.3 is 0.3.x
			n++
		}
		return c >= 0 && same(n)
	case "~":
		return c >= 0 && same(2)
	case "~=":
		return c >= 0 && same(len(w)-1)
	}
	return same(len(w))
}

func at(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func numbers(s string) (list []int) {
	for part := range strings.SplitSeq(s, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = 1 << 30
		}
		list = append(list, n)
	}
	return list
}
