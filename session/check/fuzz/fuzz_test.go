package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func TestMain(m *testing.M) {
	if os.Getenv(leaks) != "" {
		leaking()
		os.Exit(0)
	}
	if !budget.Race() {
		_ = flag.Set("test.parallel", "8") // most of what takes long waits for answers that never come
	}
	leaktest.Main(m)
}

// with is the section with options, for fuzzedBy.
func with(o Options) func(*journal.Journal) check.Section {
	return func(j *journal.Journal) check.Section {
		if o.For == 0 { // no test is about how quick the machine is
			o.For = 90 * time.Second
		}
		o.Journal, o.Repro = j, func(c Call) string {
			return strings.TrimSpace(c.Name + " " + strings.TrimPrefix(string(c.Arguments), "{}"))
		}
		return Section(o)
	}
}

// fuzzed is the report of a run against a server.
func fuzzed(t *testing.T, cfg config.Server, o Options, allow ...string) *check.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rep, err := fuzzedBy(ctx, t, cfg, with(o), check.Watch{}, allow...)
	require.NoError(t, err)
	return rep
}

func fuzzedBy(ctx context.Context, t *testing.T, cfg config.Server, make func(*journal.Journal) check.Section, w check.Watch, allow ...string) (*check.Report, error) {
	t.Helper()
	m := session.NewManager(session.Options{HealthInterval: -1, Retry: session.Retry{Max: -1}})
	defer func() { assert.NoError(t, m.Close()) }()
	cfg.Name = "subject"
	s, err := m.Register(cfg)
	require.NoError(t, err)
	require.NoError(t, s.Connect(ctx))
	offer, err := check.Take(ctx, s)
	require.NoError(t, err)
	subject := &check.Subject{Offer: offer, Session: s, Allow: allow, Again: func(ctx context.Context, change func(*config.Server)) (*session.Session, func(), error) {
		again := s.Config()
		change(&again)
		s, err := m.Register(again)
		if err != nil {
			return nil, nil, err
		}
		end := func() { _ = m.Unregister(again.Name) } // it was registered
		if err := s.Connect(ctx); err != nil {
			end()
			return nil, nil, err
		}
		return s, end, nil
	}}
	return check.Run(ctx, subject, []check.Section{make(m.Journal())}, check.Tool{Name: "test"}, w)
}

// found are the findings as "rule tool arguments".
func found(rep *check.Report) (out []string) {
	for _, f := range rep.Findings {
		if f.Rule.Section() == "fuzz" {
			out = append(out, strings.TrimSpace(strings.TrimPrefix(f.ID, "fuzz/")+" "+f.Repro))
		}
	}
	return out
}

// TestPlantedFaults: each fault of the fake server that the oracles name is found, with arguments as small as can be.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	allow := []string{"echo", "add", "kinds", "is_error", "rpc_error", "twice", "wrong_id", "noise", "crash"}
	rep := fuzzed(t, faketest.Stdio(t, behave.Good), Options{Seed: 7, Runs: 30, Timeout: 30 * time.Second}, allow...)
	got := found(rep)
	for _, f := range rep.Findings {
		if f.ID == "fuzz/died" && !strings.Contains(f.Evidence, "\nfakemcp: fatal error: crashed on purpose") {
			t.Errorf("the evidence has nothing of stderr: %s", f.Evidence)
		}
	}
	for _, want := range []string{
		"wrong-layer rpc_error", "answer-twice twice", "unknown-id wrong_id", "noise noise", "died crash", "frame kinds", `frame add {"b":1e400}`,
		`accepted echo ""`, `accepted echo {"text":null}`, "accepted greet", `accepted greet {"who":[]}`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("not found: %s, but\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestWhatNeverAnswers: each tool costs a few timeouts, and is left alone then.
func TestWhatNeverAnswers(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"wait", "late", "half"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			got := found(fuzzed(t, faketest.Stdio(t, behave.Good), Options{Seed: 7, Runs: 2, Timeout: 300 * time.Millisecond, Only: []string{tool}}, tool))
			if !slices.Contains(got, "no-answer "+tool) {
				t.Errorf("%s", strings.Join(got, "\n"))
			}
		})
	}
}

// TestSameSeed: the same calls, and so the same findings; they are told as they are found, over connections that do not wait for each other.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	of := func(seed uint64) string {
		got := found(fuzzed(t, faketest.Stdio(t, behave.Good), Options{Seed: seed, Runs: 30, Timeout: 30 * time.Second, Only: []string{"echo", "add", "kinds"}}, "echo", "add", "kinds"))
		got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "slow ") || strings.HasPrefix(s, "memory ") }) // these are measured
		slices.Sort(got)
		return strings.Join(got, "\n")
	}
	if one, two := of(3), of(3); one != two || one == "" {
		t.Errorf("first\n%s\nthen\n%s", one, two)
	}
}

// TestFailuresAreKept: they are files for the owner only, and a replay says of each whether it is still there.
func TestFailuresAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Seed: 7, Runs: 3, Timeout: 30 * time.Second, Folder: dir, Only: []string{"rpc_error", "twice"}}
	fuzzed(t, faketest.Stdio(t, behave.Good), o, "rpc_error", "twice")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	o.Replay = true
	verdicts := func(rep *check.Report) string {
		for _, s := range rep.Sections {
			if s.Name == "fuzz" {
				var v struct {
					Replayed []struct{ Verdict, Rule, Name string }
				}
				require.NoError(t, json.Unmarshal(s.Figures, &v))
				return fmt.Sprint(v.Replayed)
			}
		}
		return ""
	}
	rep := fuzzed(t, faketest.Stdio(t, behave.Good), o, "rpc_error", "twice")
	if got := verdicts(rep); !strings.Contains(got, "{still there fuzz/wrong-layer rpc_error}") || !strings.Contains(got, "{still there fuzz/answer-twice twice}") || len(found(rep)) < 2 {
		t.Errorf("%s, %v", got, found(rep))
	}
	// The same failure of a tool that is well.
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
		raw, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(f, bytes.ReplaceAll(raw, []byte(`"rpc_error"`), []byte(`"is_error"`)), 0o600)
		}
		require.NoError(t, err)
	}
	rep = fuzzed(t, faketest.Stdio(t, behave.Good), o, "is_error")
	assert.Contains(t, verdicts(rep), "{fixed fuzz/wrong-layer is_error}", "{not allowed fuzz/answer-twice twice}")
}

// TestToolOfThatName: a server that has the tool that no other has is asked for that one again.
func TestToolOfThatName(t *testing.T) {
	t.Parallel()
	own := tool{name: noTool, input: anything, answer: func(string) string { return `"error":{"code":-32603,"message":"broken"}` }}
	cfg := serve(t, own)
	o := Options{Seed: 7, Runs: 3, Timeout: 30 * time.Second, Folder: t.TempDir(), Only: []string{noTool}}
	if got := found(fuzzed(t, cfg, o)); len(got) == 0 {
		t.Fatal("nothing was kept")
	}
	o.Replay = true
	if got := found(fuzzed(t, cfg, o)); len(got) == 0 {
		t.Error("what the tool still does counts as fixed")
	}
}

// TestCancel: a run that is cancelled ends with what it found until then.
func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := 0
	rep, err := fuzzedBy(ctx, t, faketest.Stdio(t, behave.Good), with(Options{Seed: 1, Timeout: time.Minute}), check.Watch{Progress: func(p check.Progress) {
		if p.Total > 100 { // after the first calls
			if steps++; steps == 5 {
				cancel()
			}
		}
	}}, "rpc_error", "echo")
	if !errors.Is(err, context.Canceled) || !slices.Contains(found(rep), "wrong-layer rpc_error") {
		t.Errorf("%v, %q", err, found(rep))
	}
}
