package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// coldStart is what the program may need beyond a 40-line one and its own
// package initialisation.
const coldStart = 60 * time.Millisecond

// program prepares a run of the program as users have it, in an empty home.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(faketest.Program(t, "cmd/mcphud"), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir, "XDG_STATE_HOME="+cmd.Dir, "MCPHUD_CONFIG=", cli.NoHistory+"=")
	return cmd
}

// lastByte runs a command to its end and returns the time from exec to the last
// byte of its stdout, and how many bytes there were.
func lastByte(t *testing.T, cmd *exec.Cmd) (took time.Duration, size int) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, cmd.Start())
	buf := make([]byte, 1<<20)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			took, size = time.Since(start), size+n
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil || size == 0 {
		t.Fatalf("%v: %v, %d bytes, stderr %.1000s", cmd.Args, err, size, stderr.Bytes())
	}
	return took, size
}

// initialisation is what the runtime needs for the program's packages before
// main, as it says itself.
func initialisation(t *testing.T) time.Duration {
	t.Helper()
	return budget.Best(func() (sum time.Duration) {
		for _, took := range initialised(t) {
			sum += took
		}
		return sum
	})
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @[0-9.]+ ms, ([0-9.]+) ms clock`)

// initialised is what the runtime needs for each of the program's packages, as it says itself.
func initialised(t *testing.T) map[string]time.Duration {
	t.Helper()
	cmd := program(t, "--version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	require.NoError(t, cmd.Run())
	all := map[string]time.Duration{}
	for _, m := range initLine.FindAllStringSubmatch(trace.String(), -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		all[m[1]] += time.Duration(ms * float64(time.Millisecond))
	}
	if len(all) == 0 {
		t.Fatal("the runtime traced no initialisation")
	}
	return all
}

// slowPackages are known to take long to initialise: none of them can be had later without a fork.
var slowPackages = map[string]string{
	"github.com/alecthomas/chroma/v2/lexers":         "reads its embedded lexers; glamour imports it",
	"github.com/alecthomas/chroma/v2/styles":         "reads its embedded styles; glamour imports it",
	"github.com/santhosh-tekuri/jsonschema/v6":       "compiles the metaschemas of all drafts",
	"github.com/microcosm-cc/bluemonday":             "compiles its expressions; glamour imports it",
	"github.com/microcosm-cc/bluemonday/css":         "compiles its expressions; glamour imports it",
	"github.com/yuin/goldmark/extension":             "compiles its expressions; glamour imports it",
	"github.com/gorilla/css/scanner":                 "compiles its expressions; bluemonday imports it",
	"google.golang.org/protobuf/reflect/protodesc":   "reads the embedded options of descriptors; gRPC imports it",
	"github.com/prometheus/client_golang/prometheus": "makes the collectors of its default registry",
}

// A package that is new in the program costs its start nothing: what takes longer to initialise is known, with the reason.
func TestBudgetInitialisation(t *testing.T) {
	budget.Skip(t)
	const ceiling = 300 * time.Microsecond
	best := initialised(t)
	slowest := func() (name string) {
		for _, p := range slices.Sorted(maps.Keys(best)) {
			if slowPackages[p] == "" && (name == "" || best[p] > best[name]) {
				name = p
			}
		}
		return name
	}
	for n := 0; n < 5 || n < 30 && best[slowest()] > ceiling; n++ { // whatever else runs interrupts one or the other
		for p, took := range initialised(t) {
			best[p] = min(took, best[p])
		}
	}
	t.Logf("the slowest is %s", slowest())
	budget.Ceiling(t, "the slowest initialisation of a package, but for known ones", best[slowest()], ceiling)
	for p := range slowPackages {
		if _, ok := best[p]; !ok {
			t.Errorf("%s is not initialised any more: take it off the list", p)
		}
	}
}

// target is a server's part of the command line.
func target(s config.Server, args ...string) []string {
	return append(append(append(args, "--"), s.Command), s.Args...)
}

func TestBudgetColdStart(t *testing.T) {
	budget.Skip(t)
	fortyline, allowance := faketest.Program(t, "testdata/fortyline"), coldStart+initialisation(t)
	t.Run("fake", func(t *testing.T) {
		compareColdStart(t, "a server that starts at once", fortyline, faketest.Stdio(t, behave.Good), allowance)
	})
	t.Run("everything", func(t *testing.T) {
		compareColdStart(t, "server-everything", fortyline, peertest.Everything(t), allowance)
	})
}

func compareColdStart(t *testing.T, what, fortyline string, s config.Server, allowance time.Duration) {
	got, base := budget.Pair(
		func() time.Duration {
			took, _ := lastByte(t, program(t, target(s, "tools", "list", "--format", "json")...))
			return took
		},
		func() time.Duration {
			took, _ := lastByte(t, exec.Command(fortyline, append([]string{s.Command}, s.Args...)...))
			return took
		})
	budget.Beyond(t, "exec to tools listed, beyond a 40-line program: "+what, got, base, allowance)
}

// fromExec measures a bare server from its start to the end of one answer.
func fromExec(t *testing.T, s config.Server, request string) func() time.Duration {
	return func() time.Duration {
		return budget.Time(func() {
			r := faketest.Open(t, s)
			defer r.Kill()
			r.Handshake()
			r.Send(request)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// printed measures the program on a server to its last byte.
func printed(t *testing.T, least int, s config.Server, args ...string) func() time.Duration {
	return func() time.Duration {
		took, size := lastByte(t, program(t, target(s, args...)...))
		if size < least {
			t.Fatalf("%d bytes on stdout, want at least %d", size, least)
		}
		return took
	}
}

func TestBudgetManyToolsPrinted(t *testing.T) {
	budget.Push(t)
	s := faketest.Bare(t)
	got, base := budget.Pair(printed(t, 6_600_000, s, "tools", "list", "--format", "json"),
		fromExec(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	budget.Ratio(t, "5,000 tools printed, exec to last byte, against the bare server", got, base, 1.3)
}

func TestBudgetBigResultPrinted(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Big)
	const payload = 50_000_000
	var peak int64
	budget.Best(func() time.Duration {
		cmd := program(t, target(s, "tools", "call", "big", "--format", "json")...)
		took, _ := lastByte(t, cmd)
		peak = max(peak, maxRSS(cmd.ProcessState))
		return took
	})
	if peak > 0 {
		budget.Size(t, "50 MB result printed, peak memory", peak, payload, 5)
	}
	bare := faketest.Bare(t)
	got, base := budget.Pair(printed(t, payload, bare, "tools", "call", "big", "--format", "json"), func() time.Duration {
		return budget.Time(func() {
			r := faketest.Open(t, bare)
			defer r.Kill()
			r.Handshake()
			r.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			r.Until(`"id":1,`)
			r.Send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"big","arguments":{}}}`)
			if _, err := r.Skip(); err != nil {
				t.Fatal(err)
			}
		})
	})
	budget.Ratio(t, "50 MB result printed, exec to last byte, against the bare server", got, base, 1.5)
}

// manyServers writes 500 servers into files of five dialects, and returns the flags that name them.
func manyServers(t *testing.T) (flags []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []struct{ path, head, entry, tail string }{
		{".mcp.json", `{"mcpServers": {`, `"json-%03d": {"command": "npx", "args": ["-y", "server-%[1]d"], "env": {"API_KEY": "${HOME}"}}`, "}}"},
		{".vscode/mcp.json", `{"servers": {`, `"vscode-%03d": {"type": "http", "url": "https://example.com/%[1]d", "headers": {"X": "${env:HOME}"}}`, "}}"},
		{"mcphud.yaml", "servers:\n", "  yaml-%03d: {command: npx, args: [-y, server-%[1]d], env: {API_KEY: \"${HOME}\"}}\n", ""},
		{".codex/config.toml", "", "[mcp_servers.toml-%03d]\ncommand = \"npx\"\nargs = [\"-y\", \"server-%[1]d\"]\nenv = { A = \"b\" }\n", ""},
		{"goose/config.yaml", "extensions:\n", "  goose-%03d: {type: stdio, cmd: npx, args: [-y, server-%[1]d], envs: {A: b}}\n", ""},
	} {
		entries := make([]string, 100)
		for i := range entries {
			entries[i] = fmt.Sprintf(f.entry, i)
		}
		sep := ""
		if strings.HasSuffix(f.path, ".json") {
			sep = ",\n"
		}
		path := filepath.Join(dir, f.path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(f.head+strings.Join(entries, sep)+f.tail), 0o600))
		flags = append(flags, "--config", path)
	}
	return flags
}

// The servers that the budget opens are all of them.
func TestManyServersAreListed(t *testing.T) {
	t.Parallel()
	o := mcphud(t, append([]string{"servers", "list", "--format", "json"}, manyServers(t)...)...)
	if n := strings.Count(o.out, `"trusted":true`); o.code != 0 || n != 500 || strings.Contains(o.out, `"problem"`) {
		t.Errorf("exit %d, %d servers: %.2000s", o.code, n, o.out+o.stderr)
	}
}
