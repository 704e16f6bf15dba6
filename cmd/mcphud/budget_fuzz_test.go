package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

const fuzzCeiling = time.Minute

// As it is used, fuzz finds every fault of the profiles hostile and fault that a rule names, and shows those that depend on nothing else
// without arguments.
func TestBudgetFuzz(t *testing.T) {
	budget.Skip(t)
	url := launch(t, program(t, "agent", "--port", "0", "--ephemeral", "--profile", "hostile"), readyLine).url // it floods its stderr, too
	over := hostileWanted(t, url)
	var alive []string // without what would end the agent, which nobody starts again
	for _, tool := range hostileTools(t, url) {
		if tool != "exit" && tool != "http_redirect_away" {
			alive = append(alive, tool)
		}
	}
	self := faketest.Program(t, "cmd/mcphud")
	for how, target := range map[string][]string{
		"stdio": {"--", self, "agent", "--stdio", "--ephemeral", "--profile", "hostile"},
		"HTTP":  {"--only", strings.Join(alive, ","), "--url", url},
	} {
		began := time.Now()
		found := fuzzedAside(t, append([]string{"--allow", "*"}, target...)...)
		last := began
		for tool, rule := range over[strings.ToLower(how)] {
			f, ok := found[rule+" "+tool]
			if !ok || f.arguments != "" && f.arguments != "{}" {
				t.Errorf("%s of %s over %s: found %v, with %s", rule, tool, how, ok, f.arguments)
			}
			if f.at.After(last) {
				last = f.at
			}
		}
		budget.Ceiling(t, "fuzz finds every planted fault of the profile hostile over "+how, last.Sub(began), fuzzCeiling)
	}
}

// Each of the faults that come in one request only needs a run of its own.
func TestBudgetFuzzInjected(t *testing.T) {
	budget.Skip(t)
	var all time.Duration
	for _, kind := range fault.Kinds() {
		url := injected(t, kind)
		all += budget.Time(func() {
			if found := fuzzedAside(t, "--runs", "1", "--only", "echo,panic", "--url", url); found[injectedWanted(kind)+" echo"].at.IsZero() || found["wrong-layer panic"].at.IsZero() {
				t.Errorf("%s: %v", kind, found)
			}
		})
	}
	budget.Ceiling(t, "fuzz finds every planted fault of the profile fault, one run each", all, fuzzCeiling)
}

// asKept is what a run keeps of a failure.
type asKept struct {
	at        time.Time
	arguments string
}

// fuzzedAside is what a run of the program as users have it finds, as "rule tool". It ends, whatever its servers do: no pipe of theirs is
// waited for.
func fuzzedAside(t *testing.T, args ...string) map[string]asKept {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*fuzzCeiling)
	defer cancel()
	cmd := program(t, append([]string{"check", "fuzz", "--seed", "1", "--failures", "kept", "--fail-on", "never"}, args...)...)
	own := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	own.Dir, own.Env, own.WaitDelay = cmd.Dir, cmd.Env, 10*time.Second
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	return keptIn(t, filepath.Join(own.Dir, "kept"))
}

func keptIn(t *testing.T, dir string) map[string]asKept {
	t.Helper()
	found := map[string]asKept{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var f struct {
			Rule, Name string
			Arguments  json.RawMessage
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		key := strings.TrimPrefix(f.Rule, "fuzz/") + " " + f.Name
		if before, is := found[key]; !is || info.ModTime().Before(before.at) {
			found[key] = asKept{info.ModTime(), string(f.Arguments)}
		}
		return nil
	})
	require.NoError(t, err)
	return found
}
