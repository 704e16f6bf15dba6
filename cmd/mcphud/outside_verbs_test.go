package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/agentsrv/profiles/mock"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/registrytest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func init() {
	outside["answers-server.txt"] = func(t *testing.T, folder string) string { return outsideAnswers(t, folder, serverRuns) }
	outside["answers-files.txt"] = func(t *testing.T, folder string) string { return outsideAnswers(t, folder, fileRuns) }
	outside["answers-none.txt"] = outsideUnrun
}

// recording is the recorded server, in the folder of this test's files.
const recording = "recorded.jsonl"

// outsideRun is a command line, and the members of its answer that are different each time: names, and after ~ a
// regular expression with a group for it. SERVER stands for the recorded server.
type outsideRun struct{ args, changes string }

// keysOnly is for answers of which hardly anything is the same: their members without the values.
const keysOnly = "everything"

// serverRuns are what is asked of the recorded server, one after the other. The tasks are those of the bundled agent: TASKS stands for it,
// and TASK for the id of the task that was made last.
var serverRuns = []outsideRun{
	{"info SERVER", "latencyMs"},
	{"info SERVER --protocol 2025-11-25", "latencyMs"},
	{"ping SERVER", "latencyMs"},
	{"tools list SERVER", ""},
	{"tools show add SERVER", ""},
	{"tools call echo message=hi SERVER", ""},
	{"tools call echo message=hi SERVER --format jsonl --protocol 2025-11-25", ""},
	{"tools call echo message=hi SERVER --format raw --protocol 2025-11-25", ""},
	{"tools call echo message=hi SERVER --format text", ""},
	{"tools call test_structured_content SERVER --format text", ""},
	{"tools call test_input_required_result_elicitation SERVER", ""},
	{`tools call test_input_required_result_elicitation SERVER --answer {"name":"Ada"}`, ""},
	{"tools call fail SERVER", ""},
	{"tools call nothing-of-that-name SERVER", ""},
	{"tools call add --batch numbers.jsonl SERVER", "took_ms"},
	{"tools call add a=1 b=2 --expect .content[0].text==4 SERVER", ""},
	{"tools call add a=1 b=2 --compare protocol:2025-11-25 SERVER", "ms"},
	{"tools call slow_compute seconds=0 --task TASKS --protocol 2025-11-25", ""},
	{"tasks get TASK TASKS --protocol 2025-11-25", "createdAt lastUpdatedAt"},
	{"tasks result TASK TASKS --protocol 2025-11-25", ""},
	{"tasks list TASKS --protocol 2025-11-25", "createdAt lastUpdatedAt"},
	{"tasks cancel TASK TASKS --protocol 2025-11-25", ""},
	{"resources list SERVER", ""},
	{"resources read test://static-text SERVER", ""},
	{"resources read test://nothing SERVER", ""},
	{"resources templates SERVER", ""},
	{"prompts list SERVER", ""},
	{"prompts get greet name=Ada SERVER", ""},
	{"prompts get nothing SERVER", ""},
	{"complete greet name a SERVER", ""},
	{"skills list SERVER", ""},
	{"skills show see-features SERVER", ""},
	{"skills verify see-features SERVER", ""},
	{"raw tools/list SERVER", ""},
	{"raw no/such-method SERVER", ""},
	{"check SERVER", "began took_ms"},
	{"check contract --accept SERVER", "began took_ms"},
	{"check lint --fail-on info SERVER --format text", `~no findings, in ([0-9.]+[µmn]?s)`},
	{"check cases SERVER", "began took_ms"},
	{"doctor SERVER", `ms started go system ~\b(?:in|OK,|min|median|max) ([0-9.]+[µmn]?s)\b|([0-9]+) messages`}, // whether it hears the stream open depends on time
	{"bench echo message=hi --count 3 --clients 1 SERVER", keysOnly},
	{"run echo SERVER", ""},
	{"run echo message=other SERVER", ""},
	{"run wrong SERVER", ""},
	{"run .mcphud/calls SERVER --concurrency 1 --report json=-", "began took_ms"},
	{"journal replay recorded.jsonl --filter tool:echo SERVER", "ms"},
	{"status --config mcphud.yaml", "latency_ms requests"},
	{"auth explain SERVER", "ms"},
	{"history list --limit 2", "at took_ms"},
	{"history show 1", "at took_ms"},
	{"history name 1 smoke", ""},
	{"history note 1 a note", ""},
	{"history pin 1", ""},
	{"history save 1 kept", ""},
	{"history run 1", ""},
	{"history diff 1 2", "at took_ms ms"},
	{"history rm 1", ""},
	{"history clear --yes", ""},
	{"--cli SERVER --method tools/call --tool-name echo --tool-arg message=hi", ""},
	{"--cli SERVER --method tools/list --format json", ""},
	{"registry search files", "updated"},
	{"registry show io.github.owner/name", "publishedAt updatedAt"},
	{"registry versions io.github.owner/name", "published"},
	{"registry sync", "took"},
	{"info --url http://127.0.0.1:1/mcp", ""},
	{"info --server away --config mcphud.yaml", ""},
	{"info --server nothing --config mcphud.yaml", ""},
	{"tools call", ""},
	{"tools cal SERVER", ""},
	{"info SERVER --timeout 0s", ""},
	{"info SERVER --no-such-flag", ""},
	{"tools list SERVER --format brief", ""},
	{"tools list SERVER --select .tools[].name", ""},
	{"tools list SERVER --select .tools.name", ""},
	{"tools list SERVER --max-bytes 1KiB", ""},
	{"tools call echo message=hi SERVER --max-bytes 12", ""},
	{"tools call echo message=hi SERVER --format brief", ""},
}

// fileRuns are what needs no server.
var fileRuns = []outsideRun{
	{"explain recorded.jsonl", ""},
	{"explain recorded.jsonl --strict", ""},
	{"explain id-reused", ""},
	{"trace hops.jsonl", ""},
	{"trace recorded.jsonl", ""},
	{"journal stats recorded.jsonl", ""},
	{"journal cut recorded.jsonl --filter tool:echo -o cut.jsonl", ""},
	{"journal redact recorded.jsonl --key message -o redacted.jsonl", ""},
	{"journal merge a=cut.jsonl b=redacted.jsonl -o merged.jsonl", ""},
	{"journal export cut.jsonl --format har", ""},
	{"journal export cut.jsonl --format otlp", ""},
	{"journal export cut.jsonl --format jsonl", ""},
	{"config explain", `~routers/([0-9a-f]+)`},
	{"config path", ""},
	{"config themes", ""},
	{"config check mcphud.yaml routing.json mcphud.stack.yaml", ""},
	{"config check wrong.yaml --kind config", ""},
	{"config convert --to vscode --config mcphud.yaml", ""},
	{"servers list --config mcphud.yaml", ""},
	{"servers templates", ""},
	{"servers add files --to mcphud.yaml -- npx -y server-files .", "backup"},
	{"servers duplicate files files-2 --config mcphud.yaml", "backup"},
	{"servers edit files -e LEVEL=debug --config mcphud.yaml", "backup"},
	{"servers disable files --config mcphud.yaml", "backup"},
	{"servers enable files --config mcphud.yaml", "backup"},
	{"servers remove files --config mcphud.yaml", "backup"},
	{"tap wrap ./mcp.json github", "backup"},
	{"tap unwrap ./mcp.json github", "backup"},
	{"auth status", ""},
	{"auth client https://example.com/mcphud.json", ""},
	{"auth logout --all", ""},
	{"version", keysOnly},
	{"help --format json", keysOnly},
}

// unrun are the commands that no run is for, with the reason.
var unrun = map[string]string{
	"agent":                 "it serves until it is ended; agent-PROFILE.txt has what",
	"answer":                "it needs a session",
	"auth login":            "somebody has to log in",
	"completion":            "cobra writes the scripts",
	"config edit":           "it opens an editor",
	"config explain agent":  "config explain has it",
	"config explain router": "config explain has it",
	"config keys":           "actions.txt has it",
	"config schema":         "schemas.txt has it",
	"demo":                  "it is a screen",
	"help":                  "help.txt has the topics; the manuals are files of their own",
	"mock":                  "it serves until it is ended; the recorded server is one",
	"open":                  "it is a screen",
	"ps":                    "it lists what runs on this machine",
	"resources subscribe":   "it prints until it is ended",
	"router":                "it serves until it is ended",
	"session":               "its commands are below",
	"session close":         "it ends a process that session open started",
	"session list":          "it lists the processes that session open started",
	"session open":          "it starts a process that stays",
	"tap":                   "it serves until it is ended",
	"up":                    "it serves until it is ended",
}

// outsideUnrun is the list of commands without a run. Each command has one or a reason.
func outsideUnrun(t *testing.T, _ string) string {
	var b strings.Builder
	eachCommand(t, func(_ *app, c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "mcphud ")
		reason := unrun[name]
		ran := slices.ContainsFunc(append(slices.Clone(serverRuns), fileRuns...), func(r outsideRun) bool { return strings.HasPrefix(r.args+" ", name+" ") })
		switch {
		case c == c.Root() || reason == "" && (ran || strings.HasPrefix(name, "completion ")):
		case reason == "":
			t.Errorf("%s is in no table of outside_verbs_test.go; add a run of it, or why there is none", name)
		default:
			fmt.Fprintf(&b, "%s: %s\n", name, reason)
		}
	})
	return b.String()
}

var taskMade = regexp.MustCompile(`task (\w{20,}): working`)

// constant is what a run printed, with … for what is different each time.
func (r outsideRun) constant(t *testing.T, text string) string {
	t.Helper()
	if r.changes == keysOnly {
		paths := map[string]bool{}
		for line := range strings.Lines(text) {
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%s: %v", r.args, err)
			}
			memberPaths("", v, paths)
		}
		return strings.Join(slices.Sorted(maps.Keys(paths)), "\n")
	}
	names, expr, _ := strings.Cut(r.changes, "~")
	if expr != "" {
		changing := regexp.MustCompile(expr)
		text = changing.ReplaceAllStringFunc(text, func(found string) string {
			return strings.Replace(found, cmp.Or(changing.FindStringSubmatch(found)[1:]...), "…", 1)
		})
	}
	for name := range strings.FieldsSeq(names) {
		text = regexp.MustCompile(`("`+name+`":)(-?[0-9.e+-]+|"[^"]*")`).ReplaceAllString(text, `$1"…"`)
	}
	return text
}

// memberPaths collects where a JSON value has members.
func memberPaths(path string, v any, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			to[path+"/"+key] = true
			memberPaths(path+"/"+key, inner, to)
		}
	case []any:
		for _, inner := range v {
			memberPaths(path+"[]", inner, to)
		}
	}
}

// outsideAnswers is what commands print, each with its exit code, in a folder with the same files each time.
func outsideAnswers(t *testing.T, folder string, runs []outsideRun) string {
	reg := registrytest.Start(t)
	reg.Put(t, `{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json","name":"io.github.owner/name","description":"Files and github","version":"1.2.0",`+
		`"packages":[{"registryType":"npm","identifier":"@owner/name","version":"1.2.0","transport":{"type":"stdio"}}]}`)
	t.Setenv("MCPHUD_REGISTRY", reg.URL)
	t.Setenv(cli.NoHistory, "")
	home, dir := os.Getenv("HOME"), t.TempDir()
	recorded, hops := contents(filepath.Join(folder, recording)), contents(filepath.Join(folder, "..", "hops.jsonl"))
	url := recordedServer(t, recorded)
	for name, text := range map[string]string{
		recording: recorded, "hops.jsonl": hops, "wrong.yaml": "theme: nothing\ntimout: 3s\n",
		".mcphud/calls/wrong.yaml": "tool: echo\narguments: {message: hi}\nexpect: .isError\n",
		"numbers.jsonl":            "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n",
		"mcphud.yaml":              "servers:\n  recorded:\n    url: " + url + "\n  away: {command: node, args: [server.js], disabled: true}\n",
		"mcp.json":                 `{"mcpServers":{"github":{"command":"npx","args":["-y","server-github"]}}}`,
		".mcphud/calls/echo.yaml":  "tool: echo\narguments: {message: hi}\nexpect: '.content[0].text == \"hi\"'\n",
		"routing.json":             `{"routes":{"demo":{"hostPort":7000}}}`, "mcphud.stack.yaml": "version: 1\nagents:\n  docs: {}\nrouter: false\n",
	} {
		writeText(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	tasks := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	constant := strings.NewReplacer(
		hostOf(url), "recorded:80", hostOf(tasks), "tasks:80", hostOf(reg.URL), "registry:80",
		dir, "DIR", home, "HOME", `"`+cli.Version()+`"`, `"VERSION"`, "mcphud "+cli.Version(), "mcphud VERSION")
	var b strings.Builder
	task := "no task yet"
	for _, r := range runs {
		fmt.Fprintf(&b, "═══ mcphud %s\n", r.args)
		args := strings.Fields(r.args)
		for name, at := range map[string]string{"SERVER": url, "TASKS": tasks} {
			if i := slices.Index(args, name); i >= 0 {
				args = slices.Insert(args, i, "--url")
				args[i+1] = at
			}
		}
		if i := slices.Index(args, "TASK"); i >= 0 {
			args[i] = task
		}
		o := mcphud(t, args...)
		if m := taskMade.FindStringSubmatch(o.stderr); m != nil {
			task = m[1]
		}
		fmt.Fprintf(&b, "exit code %d\n", o.code)
		for _, text := range []string{o.out, o.stderr} {
			if text = strings.ReplaceAll(r.constant(t, constant.Replace(text)), task, "TASK"); text != "" {
				b.WriteString(strings.TrimRight(text, "\n") + "\n")
			}
		}
	}
	return b.String()
}

// recordedServer serves the recording, without its pauses.
func recordedServer(t *testing.T, recorded string) (url string) {
	t.Helper()
	own := filepath.Join(t.TempDir(), recording)
	writeText(t, own, recorded)
	j, err := journal.Open(own, journal.Options{})
	require.NoError(t, err)
	m, err := mock.New(mock.Options{Journal: j, Server: "everything", Speed: math.Inf(1)})
	require.NoError(t, err)
	web := httptest.NewServer(m.Handler())
	t.Cleanup(func() {
		web.Close()
		_ = m.Close(t.Context())
		_ = j.Close()
	})
	return web.URL + "/mcp"
}

// hostOf is the host and the port of a server's URL.
func hostOf(url string) string { return strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp") }
