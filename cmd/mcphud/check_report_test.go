package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/cmd/cli"
	verbcheck "github.com/mcphud/mcphud/cmd/verb/check"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
)

// checkedIn runs check in an empty working folder, in which files are written before.
func checkedIn(t *testing.T, files map[string]string, args ...string) (outcome, string) {
	t.Helper()
	c := command(t, append([]string{"check"}, args...)...)
	for name, text := range files {
		path := filepath.Join(c.Dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return finish(t, c), c.Dir
}

// ownAgent is the bundled agent, started by the program that is tested.
func ownAgent(t *testing.T, profile string) []string {
	t.Helper()
	exe := testProgram(t)
	return []string{"--", exe, "agent", "--stdio", "--ephemeral", "--profile", profile}
}

func reportOf(t *testing.T, out string) (r check.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	return r
}

func validJSON(t *testing.T, schema, doc string) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "session", "check", "report", filepath.FromSlash(schema)))
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	require.NoError(t, err)
	assert.NoError(t, s.Validate(v))
}

// The reports of real servers, a good one and a hostile one, are what their schemas say, and each has every finding.
func TestCheckReports(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"demo", "hostile"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			args := []string{"--budget", "10", "--fail-on", "never", "--format", "json"} // one finding at least
			for _, f := range reports.Formats() {
				args = append(args, "--report", f+"=out."+f)
			}
			o, dir := checkedIn(t, nil, append(args, ownAgent(t, profile)...)...)
			if o.code != 0 || o.stderr != "" && profile == "demo" {
				t.Fatalf("exit %d: %s", o.code, o.stderr)
			}
			files := map[string]string{}
			for _, f := range reports.Formats() {
				path := filepath.Join(dir, "out."+f)
				b, err := os.ReadFile(path)
				require.NoError(t, err)
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
					t.Errorf("%s: %v", f, info.Mode())
				}
				files[f] = string(b)
			}
			r := reportOf(t, o.out)
			if r.Counts.Error == 0 || r.Server.Tools == 0 || o.out != files[reports.JSON] {
				t.Errorf("%.1000s", o.out)
			}
			validJSON(t, "report.schema.json", o.out)
			validJSON(t, "testdata/sarif-schema-2.1.0.json", files[reports.SARIF])
			if got := strings.Count(files[reports.SARIF], `"mcphud/v1":"`); got != len(r.Findings) {
				t.Errorf("SARIF has %d of %d findings", got, len(r.Findings))
			}
			dec := xml.NewDecoder(strings.NewReader(files[reports.JUnit]))
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range r.Findings {
				for _, format := range []string{reports.Text, reports.JUnit, reports.Markdown} {
					if !strings.Contains(files[format], f.ID) && !(format == reports.Markdown && len(files[format]) > 60_000) {
						t.Errorf("%s lacks %s", format, f.ID)
					}
				}
			}
			for _, format := range []string{reports.Text, reports.Markdown} {
				if why := hostile.Harm(files[format]); why != "" && !strings.Contains(why, "marks") {
					t.Errorf("%s: %s", format, why)
				}
			}
		})
	}
}

func TestCheckPrintsAReport(t *testing.T) {
	t.Parallel()
	args := slices.Concat([]string{"cost", "--budget", "10"}, ownAgent(t, "demo"))
	o, _ := checkedIn(t, nil, append([]string{"--format", "text", "-v"}, args...)...)
	if o.code != cli.ExitAssertion || !strings.Contains(o.out, "✗ cost/over-budget: ") || !strings.Contains(o.out, "why: ") || !strings.Contains(o.out, "\n✗ ") || !strings.Contains(o.stderr, "of severity error or more") {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.stderr)
	}
	o, _ = checkedIn(t, nil, append([]string{"--report", "markdown"}, args...)...)
	if o.code != cli.ExitAssertion || !strings.HasPrefix(o.out, "## ✗ mcphud check: `") {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	o, dir := checkedIn(t, map[string]string{"mcphud.lock": "{\n \"x\": 1\n}\n"}, append([]string{"--report", "sarif=-", "--report", "junit=a.xml"}, args...)...)
	o.prints(t, cli.ExitAssertion, `"uri":"mcphud.lock"`)
	if _, err := os.Stat(filepath.Join(dir, "a.xml")); err != nil {
		t.Error(err)
	}
}

// A finding that is ignored for a reason does not fail, and an entry that does nothing is told.
func TestCheckIgnores(t *testing.T) {
	t.Parallel()
	list := map[string]string{".mcphud/check.yaml": "ignore:\n  - rule: cost/over-*\n    reason: we pay\n  - rule: cost/no-such\n    reason: once\nseverity:\n  cost/over-budget: warning\n"}
	args := slices.Concat([]string{"cost", "--budget", "10", "--fail-on", "warning"}, ownAgent(t, "demo"))
	o, _ := checkedIn(t, list, append([]string{"--ignore", "cost/*: all of it", "--format", "json"}, args...)...)
	r := reportOf(t, o.out)
	if o.code != 0 || r.Counts.Ignored != len(r.Findings) || len(r.Ignores) != 3 || r.Ignores[1].State != check.Unused {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.ID == "cost/over-budget" })
	if i < 0 || r.Findings[i].Ignored != "we pay" || r.Findings[i].Severity != check.Warning {
		t.Errorf("%+v", r.Findings)
	}
	o, _ = checkedIn(t, list, append([]string{"--format", "text"}, args...)...)
	assert.Contains(t, o.out, "matches nothing: cost/no-such ("+filepath.Join(".mcphud", "check.yaml")+":4)")
}

func TestCheckBaseline(t *testing.T) {
	t.Parallel()
	agent := ownAgent(t, "demo")
	o, dir := checkedIn(t, nil, slices.Concat([]string{"cost", "--budget", "10", "--format", "json", "--baseline", "known.json", "--write-baseline", "known.json"}, agent)...)
	if r := reportOf(t, o.out); o.code != 0 || r.Baseline == nil || r.Baseline.Known == 0 || r.Baseline.New != 0 || !strings.Contains(o.stderr, "wrote known.json") {
		t.Fatalf("exit %d: %s %s", o.code, o.out, o.stderr)
	}
	known, err := os.ReadFile(filepath.Join(dir, "known.json"))
	require.NoError(t, err)
	files := map[string]string{"known.json": string(known)}
	o, _ = checkedIn(t, files, slices.Concat([]string{"cost", "--budget", "10", "--baseline", "known.json", "--format", "text"}, agent)...)
	o.prints(t, 0, "still there, 0 are new, 0 are fixed")
	// What is fixed is told, also to code scanning; what another section found is not.
	o, _ = checkedIn(t, files, slices.Concat([]string{"cost", "--baseline", "known.json", "--report", "sarif"}, agent)...)
	o.prints(t, 0, `"baselineState":"absent"`, `"ruleId":"cost/over-budget"`)
	o, _ = checkedIn(t, files, slices.Concat([]string{"lint", "--baseline", "known.json", "--fail-on", "never", "--format", "json"}, agent)...)
	if r := reportOf(t, o.out); len(r.Baseline.Fixed) > 0 {
		t.Errorf("%+v", r.Baseline)
	}
	// A new finding counts.
	o, _ = checkedIn(t, map[string]string{"known.json": `{"version":1,"findings":[]}`}, slices.Concat([]string{"cost", "--budget", "10", "--baseline", "known.json"}, agent)...)
	o.exits(t, cli.ExitAssertion)
}

// What is wrong is said before a server is started, with its place.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files map[string]string
		args  []string
		want  string
	}{
		{nil, []string{"--report", "html"}, `there is no format \"html\"`},
		{nil, []string{"--report", "juint=a.xml"}, `did you mean junit`},
		{nil, []string{"--report", "junit="}, "no file after ="},
		{nil, []string{"--report", "junit", "--report", "sarif"}, "two reports for stdout"},
		{nil, []string{"--report", "junit=a", "--report", "sarif=a"}, "two reports for a"},
		{nil, []string{"--report", "junit=no/such/a.xml"}, "no/such is not a folder"},
		{nil, []string{"--report", "junit=."}, "cannot write .: it is a folder"},
		{nil, []string{"localhost:3000"}, "did you mean http://localhost:3000"},
		{nil, []string{"--fail-on", "bad"}, "must be one of error, warning, info, never"},
		{nil, []string{"--ignore", "lint/a"}, "is not RULE:REASON"},
		{nil, []string{"--ignore-file", "no.yaml"}, "cannot read the ignore list"},
		{map[string]string{".mcphud/check.yaml": "ignore:\n  - rule: lint/a\n"}, nil, filepath.Join(".mcphud", "check.yaml") + ":2:5: the entry has no reason"},
		{nil, []string{"--baseline", "no.json"}, "--write-baseline makes one"},
		{map[string]string{"b.json": "{\n  x"}, []string{"--baseline", "b.json"}, "b.json:2:3: is not valid JSON"},
		{nil, []string{"lnit"}, `there is no section`},
	} {
		o, dir := checkedIn(t, c.files, slices.Concat([]string{"--format", "json"}, c.args, ownAgent(t, "demo"))...)
		if o.code != cli.ExitFailure || o.out != "" || !strings.Contains(strings.ReplaceAll(o.stderr, `\\`, `\`), c.want) {
			t.Errorf("%q: exit %d, %s%s; want %q", c.args, o.code, o.out, o.stderr, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
			t.Errorf("%q: a report is there", c.args)
		}
	}
	mcphud(t, "check", "lnit", "--url", "http://127.0.0.1:1/mcp").exits(t, cli.ExitFailure, "did you mean lint")
}

// A server that dies in the middle gives a whole report, in which that is a finding.
func TestCheckOfAServerThatDies(t *testing.T) {
	t.Parallel()
	o, dir := checkedIn(t, nil, append([]string{"cost", "--format", "json", "--report", "junit=a.xml"}, fake(t, behave.HalfFrameExit)...)...)
	r := reportOf(t, o.out)
	if o.code != cli.ExitAssertion || r.Counts.Error == 0 || r.Findings[0].ID != "server/list-failed" || len(r.Sections) != 2 {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.stderr)
	}
	validJSON(t, "report.schema.json", o.out)
	b, err := os.ReadFile(filepath.Join(dir, "a.xml"))
	if err != nil || !strings.Contains(string(b), `<failure type="error" message="server: tools/list: the list could not be read: `) {
		t.Errorf("%v: %s", err, b)
	}
}

// An interrupt ends the check, and what was found until then is reported.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	c := command(t, append([]string{"check", "cost", "fuzz", "--budget", "1", "--runs", "100000", "--for", "1h", "--seed", "1", "--journal", "frames.jsonl", "--format", "json", "--report", "junit=a.xml", "--write-baseline", "b.json"}, ownAgent(t, "demo")...)...)
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	require.NoError(t, c.Start())
	defer func() { _ = c.Process.Kill() }() // it is gone where the test is well
	journal := filepath.Join(c.Dir, "frames.jsonl")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if b, _ := os.ReadFile(journal); bytes.Contains(b, []byte("tools/call")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was called: %s", &stderr)
		}
	}
	require.NoError(t, c.Process.Signal(os.Interrupt))
	_ = c.Wait() // the exit code is looked at
	r := reportOf(t, out.String())
	if c.ProcessState.ExitCode() != cli.ExitInterrupted || !r.Interrupted || !strings.Contains(out.String(), "cost/over-budget") || !strings.Contains(stderr.String(), "the baseline is not written") {
		t.Errorf("exit %d: %.1000s\n%s", c.ProcessState.ExitCode(), &out, &stderr)
	}
	validJSON(t, "report.schema.json", out.String())
	if b, err := os.ReadFile(filepath.Join(c.Dir, "a.xml")); err != nil || !bytes.HasSuffix(b, []byte("</testsuites>\n")) {
		t.Errorf("%v: %s", err, b)
	}
}

// An interrupt before anything was examined still gives the reports, which say so.
func TestCheckInterruptedBeforeTheLists(t *testing.T) {
	t.Parallel()
	config := `{"mcpServers":{"one":` + func() string {
		b, err := json.Marshal(map[string]any{"command": fake(t, behave.NoAnswer)[1], "args": fake(t, behave.NoAnswer)[2:], "env": map[string]string{asMain: "1"}})
		require.NoError(t, err)
		return string(b)
	}() + `}}`
	for name, c := range map[string]struct {
		args []string
		sent string // what the server does not answer
		said string
	}{
		"list":    {fake(t, behave.NoRead, "lint", "cost"), "prompts/list", "interrupted while prompts/list was not answered"},
		"connect": {fake(t, behave.NoAnswer, "lint"), "", "interrupted before the server was connected to"},
		"all":     {[]string{"lint", "--all", "--config", "all.json"}, "", "interrupted before the server was connected to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, append([]string{"check", "--journal", "frames.jsonl", "--timeout", "9m", "--connect-timeout", "9m", "--format", "json", "--report", "junit=a.xml", "--report", "json=a.json"}, c.args...)...)
			require.NoError(t, os.WriteFile(filepath.Join(cmd.Dir, "all.json"), []byte(config), 0o600))
			var out, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &stderr
			require.NoError(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill() }() // it is gone where the test is well
			require.Eventually(t, "the request", func() bool {
				j := contents(filepath.Join(cmd.Dir, "frames.jsonl"))
				return strings.Contains(j, `"method":"`) && strings.Contains(j, c.sent)
			})
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait() // the exit code is looked at
			report := contents(filepath.Join(cmd.Dir, "a.json"))
			if cmd.ProcessState.ExitCode() != cli.ExitInterrupted || !strings.Contains(report, `"interrupted":true`) || !strings.Contains(report, c.said) {
				t.Errorf("exit %d: %s\n%s", cmd.ProcessState.ExitCode(), report, &stderr)
			}
			if name != "all" {
				validJSON(t, "report.schema.json", report)
			}
			if b := contents(filepath.Join(cmd.Dir, "a.xml")); !strings.HasSuffix(b, "</testsuites>\n") {
				t.Error(b)
			}
		})
	}
}

// A list that cannot be read is not one without findings.
func TestCheckOfListsThatFail(t *testing.T) {
	t.Parallel()
	o, _ := checkedIn(t, nil, append([]string{"lint", "cost", "--format", "text"}, fake(t, behave.ListError)...)...)
	if o.code != cli.ExitAssertion || strings.Contains(o.out, "no findings") || strings.Count(o.out, "not finished: nothing is known of tools/list, prompts/list, ") != 2 {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
}

// A server that does not start has no report on stdout, and files that say so.
func TestCheckOfAServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	o, dir := checkedIn(t, nil, append([]string{"--report", "sarif=a.sarif", "--report", "json=a.json", "--format", "json"}, fake(t, behave.ExitAtOnce)...)...)
	if o.code != cli.ExitUnreachable || o.out != "" {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
	for file, schema := range map[string]string{"a.sarif": "testdata/sarif-schema-2.1.0.json", "a.json": "report.schema.json"} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !bytes.Contains(b, []byte("server/unreachable")) {
			t.Fatalf("%v: %s", err, b)
		}
		validJSON(t, schema, string(b))
	}
}

// All servers of a config are in one report, also one that does not start; what is disabled is named and left out.
func TestCheckAll(t *testing.T) {
	t.Parallel()
	agent := ownAgent(t, "demo")[1:]
	broken := fake(t, behave.ExitAtOnce)[1]
	entry := func(command string, args ...string) string {
		b, err := json.Marshal(map[string]any{"command": command, "args": args, "env": map[string]string{asMain: "1"}})
		require.NoError(t, err)
		return string(b)
	}
	config := `{"mcpServers":{"one":` + entry(agent[0], agent[1:]...) + `,"two":` + entry(broken, "exit") + `,"three":` + entry(agent[0], agent[1:]...) + `,"off":{"command":"x","disabled":true}}}`
	list := "ignore:\n  - {rule: server/unreachable, reason: not today}\n  - {rule: cost/x, reason: never}\n"
	files := map[string]string{"all.json": config, ".mcphud/check.yaml": list}
	o, dir := checkedIn(t, files, "cost", "--all", "--config", "all.json", "--budget", "10", "--format", "json", "--report", "sarif=a.sarif", "--report", "text=a.txt")
	var all struct {
		Reports []check.Report `json:"reports"`
	}
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != cli.ExitAssertion || len(all.Reports) != 3 {
		t.Fatalf("exit %d, %v: %s\n%s", o.code, err, o.out, o.stderr)
	}
	assert.Contains(t, o.stderr, "off is disabled")
	for _, r := range all.Reports {
		if broken := r.Server.Name == "two"; broken != (r.Findings[0].ID == "server/unreachable") || broken != (r.Findings[0].Ignored == "not today") {
			t.Errorf("%+v", r)
		}
		if r.Ignores[0].State != "" {
			t.Errorf("the entry does something for another server: %+v", r.Ignores)
		}
	}
	sarif, err := os.ReadFile(filepath.Join(dir, "a.sarif"))
	require.NoError(t, err)
	validJSON(t, "testdata/sarif-schema-2.1.0.json", string(sarif))
	assert.Equalf(t, bytes.Count(sarif, []byte(`"automationDetails":{"id":"mcphud/`)), 3, "runs")
	// One baseline has what is known of each, also where one of them is examined by itself.
	o, dir = checkedIn(t, files, "cost", "--all", "--config", "all.json", "--budget", "10", "--write-baseline", "known.json")
	o.exits(t, 0, "wrote known.json: ")
	known, err := os.ReadFile(filepath.Join(dir, "known.json"))
	require.NoError(t, err)
	files["known.json"] = string(known)
	for i, args := range [][]string{{"--all"}, {"--server", "three"}} {
		o, _ = checkedIn(t, files, append([]string{"cost", "--config", "all.json", "--budget", "10", "--baseline", "known.json", "--format", "text"}, args...)...)
		if o.code != 0 || strings.Count(o.out, "still there, 0 are new, 0 are fixed") != 3-2*i || strings.Contains(o.stderr, "has nothing of") {
			t.Errorf("%q: exit %d: %s %s", args, o.code, o.out, o.stderr)
		}
	}
	files["known.json"] = `{"version":2,"servers":{"one":[]}}`
	o, _ = checkedIn(t, files, "cost", "--config", "all.json", "--budget", "10", "--baseline", "known.json", "--server", "three")
	o.exits(t, cli.ExitAssertion, "known.json has nothing of three: it has one")
	none := filepath.Join(dir, "none.json")
	require.NoError(t, os.WriteFile(none, []byte(`{"mcpServers":{},"version":1}`), 0o600))
	for want, args := range map[string][]string{
		"one was named":            {"--server", "one"},
		"a baseline of one server": {"--baseline", none},
		"a lock is compared with":  {"contract"},
		"no server that may start": {"--config", none},
	} {
		mcphud(t, append([]string{"check", "--all", "--format", "json"}, args...)...).exits(t, cli.ExitFailure, want)
	}
}

// The rules that are listed are those of all sections, and each can be explained.
func TestCheckListRules(t *testing.T) {
	t.Parallel()
	var all struct {
		Rules []check.Rule `json:"rules"`
	}
	o := mcphud(t, "check", "--list-rules", "--format", "json")
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != 0 {
		t.Fatalf("exit %d, %v: %s", o.code, err, o.stderr)
	}
	sections := map[string]bool{}
	id := regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.-]*$`)
	for _, r := range all.Rules {
		sections[r.Section()] = true
		if !id.MatchString(r.ID) || r.Title == "" {
			t.Errorf("%+v", r)
		}
	}
	for _, name := range (&verbcheck.Checking{}).Names() {
		if !sections[name] {
			t.Errorf("no rule of %s is listed", name)
		}
	}
	o = mcphud(t, "check", "--list-rules", "cost", "--format", "text")
	if o.code != 0 || !strings.Contains(o.out, "cost/over-budget") || strings.Contains(o.out, "lint/") {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	o = mcphud(t, "check", "--list-rules", "cost/over-budget", "--format", "text")
	o.prints(t, 0, "\nwhy", "\nsource")
	o = mcphud(t, "check", "--list-rules", "cost/over-budged", "--format", "text")
	o.exits(t, cli.ExitFailure, "did you mean cost/over-budget")
}
