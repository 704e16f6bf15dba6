package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/cmd/inspector"
	verbconfig "github.com/mcphud/mcphud/cmd/verb/config"
	verbinspect "github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/cmd/verb/serve/options"
	"github.com/mcphud/mcphud/proxy/policy/access"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/stack"
	"github.com/mcphud/mcphud/session/check/report/ignore"
	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// documents are the Markdown files for readers of the project, by path below its folder.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "corpus" || path == "bin" || path == "dist" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md") && !strings.Contains(path, "/testdata/"):
			b, err := fs.ReadFile(root, path)
			found[path] = string(b)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// shellWord is a word of a command line, with what is quoted.
var shellWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)

// variables are those that stand before a command.
var variables = regexp.MustCompile(`^[A-Z_]+=`)

// commandLines are the invocations of mcphud that a document shows, as arguments: those in blocks, after a $ in one that
// has output as well, and those between backticks, also where one is below another, behind a pipe or after other commands.
func commandLines(text string) (lines [][]string) {
	add := func(line string) {
		line, _, _ = strings.Cut(line, "  #")
		line = strings.NewReplacer(" | ", "\n", " && ", "\n", "; ", "\n", " -- mcphud ", " -- x\nmcphud ", "go run ./cmd/mcphud ", "mcphud ").Replace(strings.TrimSuffix(line, " &"))
		for part := range strings.Lines(line) {
			words := shellWord.FindAllString(part, -1)
			if i := slices.Index(words, ">"); i >= 0 { // into a file
				words = words[:i]
			}
			for len(words) > 0 && variables.MatchString(words[0]) {
				words = words[1:]
			}
			if len(words) > 1 && words[0] == "mcphud" {
				for i, w := range words {
					words[i] = strings.Trim(w, `'"`)
				}
				lines = append(lines, words[1:])
			}
		}
	}
	block, prose := "", ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```") && block != "":
			block = ""
		case strings.HasPrefix(line, "```"):
			block = cmp.Or(strings.TrimPrefix(line, "```"), "text")
		case block == "" && line == "":
			prose += "\n\n"
		case block == "":
			prose += line + " " // what is between backticks may go on in the next line
		case block == "console":
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				add(command)
			}
		default: // also steps of a workflow
			add(strings.TrimPrefix(strings.TrimPrefix(line, "- "), "run: "))
		}
	}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(prose, -1) {
		add(m[1])
	}
	return lines
}

// Every command line of every document names a command and flags that there are.
func TestV3_DocumentsShowCommandsThatExist(t *testing.T) {
	t.Parallel()
	n, seen := 0, map[string]bool{}
	for path, text := range documents(t) {
		for _, args := range commandLines(text) {
			n++
			line := strings.Join(args, "\x00")
			if seen[line] { // in another document, too
				continue
			}
			seen[line] = true
			parses(t, path, args)
		}
	}
	if n < 60 {
		t.Errorf("%d command lines were found", n)
	}
}

// parses wants a command line to name a command, flags and arguments that there are, and where says which it is.
func parses(t *testing.T, where string, args []string) {
	t.Helper()
	if err := parsed(t, args); err != nil {
		t.Errorf("%s: mcphud %s: %v", where, strings.Join(args, " "), err)
	}
}

// parsed is the error of a command line that the program would refuse before it did anything.
func parsed(t *testing.T, args []string) error {
	t.Helper()
	if args[0] == verbinspect.Inspecting {
		r, err := inspector.Parse(args[1:])
		if err == nil && r.Method != "" {
			err = r.Check()
		}
		return err
	}
	a := &app{&cli.App{Standard: cli.Standard{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	a.Root = a.command(nil)
	a.Root.InitDefaultHelpCmd()
	a.Root.InitDefaultVersionFlag()
	cmd, rest, err := a.Root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	word := ""
	if own := cmd.Flags().Args(); len(own) > 0 && cmd.Flags().ArgsLenAtDash() != 0 {
		word = own[0]
	}
	plain := regexp.MustCompile(`^[a-z]+$`).MatchString(word)
	switch {
	case cmd.Name() == "help" && plain && !isTopic(word):
		if about, _, err := a.Root.Find(cmd.Flags().Args()); err == nil && about != a.Root {
			return nil
		}
		fallthrough
	case plain && cmd.HasSubCommands() && cmd != a.Root:
		return fmt.Errorf("there is no %s", word)
	case cmd.Name() == "help":
		return nil
	}
	return argumentsFit(t, a, cmd)
}

func isTopic(name string) bool {
	_, ok := manual(name)
	return ok
}

// Each topic of `mcphud help` is a document of a folder and says on a pipe what the file says; another name of it leads to it, or to a section.
func TestHelpPrintsEachManual(t *testing.T) {
	t.Parallel()
	files := map[string]bool{}
	for _, text := range documents(t) {
		files[text] = true
	}
	names := map[string]bool{}
	for _, topic := range topics() {
		if !files[topic.text] {
			t.Errorf("%s is not the manual of a folder", topic.name)
		}
		title, _, _ := strings.Cut(topic.text, "\n")
		for _, p := range append([]part{{topic.name, ""}}, topic.parts...) {
			if names[p.name] {
				t.Errorf("%s is the name of two manuals", p.name)
			}
			names[p.name] = true
			out := mcphud(t, "help", p.name).ok(t)
			switch {
			case strings.Contains(out, "<!--"):
				t.Errorf("help %s prints what is for generators", p.name)
			case p.heading == "" && (!strings.HasPrefix(out, title+"\n") || len(out) < len(topic.text)-400):
				t.Errorf("help %s printed %d bytes of %d: %.200s", p.name, len(out), len(topic.text), out)
			case p.heading != "" && (!strings.HasPrefix(out, "# "+p.heading+"\n") || len(out) < len(p.heading)+200 || !strings.Contains(out, "mcphud help "+topic.name+"`") ||
				strings.Count(topic.text, "\n## "+p.heading+"\n") != 1):
				t.Errorf("help %s printed %d bytes: %.200s", p.name, len(out), out)
			}
		}
	}
	for _, name := range oldTopics {
		if !names[name] {
			t.Errorf("help %s, which once was a manual, leads nowhere", name)
		}
	}
	list := mcphud(t, "help").ok(t)
	completion := mcphud(t, "__complete", "help", "").ok(t)
	for _, topic := range topics() {
		if !strings.Contains(list, topic.about) || !strings.Contains(completion, topic.name+"\t"+topic.about) {
			t.Errorf("help does not list %s", topic.name)
		}
	}
	assert.Contains(t, mcphud(t, "help", "tools", "call").ok(t), "--args")
	if e := mcphud(t, "help", "kyes").errorLine(t); !strings.Contains(e.Message, "did you mean keys") {
		t.Errorf("%+v", e)
	}
}

// oldTopics are names that manuals had while there were 26 of them.
var oldTopics = strings.Fields("scripts formats ci trust inspector cli keys inbox questions login oauth servers config settings doctor diagnose check rules network proxy " +
	"registry bundles agent mock router scale replicas stack up traffic filter bench load again compare tap wrap history calls journal har trace hops changes whatsnew speed budgets")

// The manuals are few and short: what else is known stands in --help-all, in schemas and in the comments of packages.
func TestManualsStayShort(t *testing.T) {
	t.Parallel()
	const most, words = 12, 20_000
	all := topics()
	if len(all) > most {
		t.Errorf("%d manuals, %d are the limit: make it a section of one that is there", len(all), most)
	}
	word, n := regexp.MustCompile(`[\p{L}\p{N}]`), 0
	for _, topic := range all {
		for _, w := range strings.Fields(topic.text) { // of tables without their bars
			if word.MatchString(w) {
				n++
			}
		}
	}
	if n > words {
		t.Errorf("the manuals have %d words, %d are the limit: take out what a flag, a schema or a package says already", n, words)
	}
}

// On a terminal a manual is rendered, within its width.
func TestHelpOnATerminal(t *testing.T) {
	t.Parallel()
	out, code := onTerminal(t, "help", "keys")
	if code != 0 || !strings.Contains(out, "everywhere") || strings.Contains(out, "|---|") {
		t.Errorf("exit %d: %.500q", code, out)
	}
}

// Every configuration that a document shows can be read as what it is.
func TestV3_DocumentsShowConfigurationsThatLoad(t *testing.T) {
	t.Parallel()
	n := 0
	for path, text := range documents(t) {
		for _, m := range regexp.MustCompile("(?s)\n```(yaml|json)\n(.*?)```").FindAllStringSubmatch(text, -1) {
			n++
			block := strings.ReplaceAll(m[2], "2c26b4…", strings.Repeat("2c26b46b", 8))
			file := filepath.Join(t.TempDir(), "config."+m[1])
			require.NoError(t, os.WriteFile(file, []byte(block), 0o600))
			set := func(string) (string, bool) { return "value", true }
			var err error
			switch {
			case strings.Contains(block, `"routes"`):
				_, err = routes.Parse([]byte(block))
			case strings.Contains(block, `"tokens"`):
				_, err = access.ParseTokens([]byte(block))
			case strings.HasPrefix(block, "tools:"):
				if found := verbconfig.CheckFile(file, "agent").Findings; len(found) > 0 {
					t.Errorf("%s: %v in\n%s", path, found, block)
				}
			case strings.HasPrefix(block, "- kind:"):
				_, err = (&cli.Options{Answers: []string{"@" + file}}).Prepared()
			case strings.Contains(block, "clientInfo:"):
				_, err = persona.Read(file)
			case strings.HasPrefix(block, "# "+calls.Folder):
				var warnings []config.Warning
				if _, warnings, err = calls.Read(file); len(warnings) > 0 {
					t.Errorf("%s: warnings %v in\n%s", path, warnings, block)
				}
			case strings.HasPrefix(block, "ignore:"):
				_, err = ignore.Read(file)
			case strings.Contains(block, "theme:"):
				if found := verbconfig.CheckFile(file, "config").Findings; len(found) > 0 {
					t.Errorf("%s: %v in\n%s", path, found, block)
				}
			case strings.Contains(block, "extends:"):
				if found := verbconfig.CheckFile(file, "theme").Findings; len(found) > 0 {
					t.Errorf("%s: %v in\n%s", path, found, block)
				}
			case strings.Contains(block, "agents:"):
				_, err = stack.Source{Lookup: set, Agent: options.AgentChecker()}.Load(file)
			default:
				var found config.Set
				found, err = config.Load(config.Options{Files: []string{file}, LookupEnv: set})
				for _, s := range found.Servers {
					if s.Problem != nil {
						t.Errorf("%s: %s: %v", path, s.Name, s.Problem)
					}
				}
				if len(found.Servers) == 0 || len(found.Warnings) > 0 {
					t.Errorf("%s: %d servers, warnings %v in\n%s", path, len(found.Servers), found.Warnings, block)
				}
			}
			if err != nil {
				t.Errorf("%s: %v in\n%s", path, err, block)
			}
		}
	}
	if n < 6 {
		t.Errorf("%d configurations were found", n)
	}
}

// exampleServers are names that documents use as if a configuration had them; so is any word in capitals.
var exampleServers = []string{"github", "everything", "notes", "files", "SERVER", "NAME", "TARGET"}

// placeholder is a word that stands for another one.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z_]*…?$`)

// argumentsFit is the error of a command line whose arguments the command would refuse before it did anything. A
// command without any is only spoken of.
func argumentsFit(t *testing.T, a *app, cmd *cobra.Command) error {
	t.Helper()
	args := cmd.Flags().Args()
	own, _, dash := cli.SplitArgs(cmd, args)
	if len(args) == 0 && !dash {
		return nil // it is spoken of
	}
	if len(own) > 0 && own[len(own)-1] == "…" { // whatever it takes
		return nil
	}
	file := filepath.Join(t.TempDir(), "examples.yaml")
	text := "mcp:\n  servers:\n"
	names := slices.Clone(exampleServers)
	for _, w := range own {
		if placeholder.MatchString(w) && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	for _, n := range names {
		text += "    - {id: \"" + n + "\", command: \"true\"}\n"
	}
	write(t, file, text)
	a.Options.Configs = []string{file}
	if cmd == a.Root {
		if len(own) == 0 || config.IsURL(own[0]) {
			return nil
		}
		return a.bareName(cmd, own)
	}
	if err := cmd.ValidateArgs(args); err != nil {
		return err
	}
	if cmd.Annotations[cli.RuleKey] == "" {
		return nil
	}
	_, _, _, err := a.OwnArgs(cmd, args, runner.IsCall)
	return err
}

// The test of documents sees what it is for: commands that are not there, flags that are not, and arguments that are refused.
func TestDocumentedCommandsAreChecked(t *testing.T) {
	t.Parallel()
	for line, right := range map[string]bool{
		"mcphud doctor github": true, "mcphud doctor NAME": true, "mcphud NAME": true, "mcphud tools list": true, "mcphud tap wrap cursor github": true, "mcphud run": true,
		"mcphud doctor no-such-server": false, "mcphud no-such-server": false, "mcphud doctor a b": false, "mcphud version now": false, "mcphud tap wrap cursor": false,
		"mcphud open a b": false, "mcphud run x --no-such-flag": false, "mcphud complete a b": false, "mcphud journal stats a b": false, "mcphud servers edit a b": false,
		"mcphud tools lst": false, "mcphud help nothing": false, "mcphud servers list github": false, "mcphud journal redact": true,
	} {
		args := commandLines("`" + line + "`")
		if len(args) != 1 {
			t.Errorf("%s: %d command lines", line, len(args))
			continue
		}
		if err := parsed(t, args[0]); (err == nil) != right {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// commandLines finds a command wherever a reader takes one from.
func TestDocumentedCommandsAreFound(t *testing.T) {
	t.Parallel()
	text := "Say `mcphud ping x`, or `A=1 mcphud info\ny` in two lines.\n\n```console\n$ mcphud tools list z | jq .\n$ cd x && mcphud demo\n$ cat f | mcphud open - > out  # a file\n$ go run ./cmd/mcphud up\n$ cmd \\\n  -- mcphud ps\n```\n\n```sh\nmcphud tap &\n```\n\n```\nmcphud help keys\n```\n\n```yml\n- run: mcphud run x\n```\n"
	var got []string
	for _, args := range commandLines(text) {
		got = append(got, strings.Join(args, " "))
	}
	want := []string{"ping x", "info y", "tools list z", "demo", "open -", "up", "ps", "tap", "help keys", "run x"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
