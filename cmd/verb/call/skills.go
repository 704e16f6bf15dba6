package call

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/offer"
)

func (a *app) skillsCommand() *cobra.Command {
	show := &cobra.Command{
		Use: "show NAME [FILE] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show one skill, or one of its files", Annotations: cli.Rule("1-2"),
		Long: "Shows a skill's entry and its SKILL.md, or one of its files by the path below the skill. NAME may be the URI of its SKILL.md, also of a\n" +
			"skill that is not listed. What is not as the entry says, by size, digest and front matter, is not shown: exit code 6.",
		Example: "  mcphud skills show refunds -- node server.js\n  mcphud skills show skill://acme/refunds/SKILL.md examples/email.md -- node server.js",
		Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(skillsShow), ValidArgsFunction: runner.CompleteNames(a.App, offer.Skills),
	}
	verify := &cobra.Command{
		Use: "verify [NAME] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Read all files of one skill, or of all listed ones, and verify them", Annotations: cli.Rule("0-1"),
		Long: "Reads every file of a skill, or of all that are listed, and compares it with the skill's entry: size, digest, and the front matter of\n" +
			"SKILL.md field by field. Exit code 6 when something does not match.",
		Example: "  mcphud skills verify -- node server.js\n  mcphud skills verify refunds --format json --url http://127.0.0.1:3000/mcp",
		Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(skillsVerify), ValidArgsFunction: runner.CompleteNames(a.App, offer.Skills),
	}
	return a.Group("skills", "List, show and verify skills",
		&cobra.Command{
			Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's skills", Annotations: cli.Listing(),
			Example: "  mcphud skills list -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(skillsList),
		},
		show, verify)
}

// offersSkills refuses a server that does not declare the extension: it is not to be asked.
func offersSkills(l *cli.Link) error {
	if l.Supports(offer.Skills.Method()) {
		return nil
	}
	return &failure.Error{
		Kind: failure.RpcError, Server: l.Name(), Message: "the server does not declare skills (" + offer.SkillsExtension + ")",
		Next: "mcphud info shows what it has; mcphud raw skills/list asks all the same",
	}
}

func skillsList(ctx context.Context, l *cli.Link, _ []string) error {
	if err := offersSkills(l); err != nil {
		return err
	}
	return runner.PrintList(ctx, l, offer.Skills, briefSkill, func(t *output.Text, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			sk, _ := offer.ParseSkill(it.Raw) // what is wrong with it is in the last column
			rows = append(rows, []string{cmp.Or(it.Name, it.URI), weightOf(sk), markMalformed(it, text.FirstLine(runner.Describe(it)))})
		}
		t.Table(l.Out.Width, rows)
	})
}

// weightOf is how many files a skill has, and how large they are.
func weightOf(sk offer.Skill) string {
	if sk.Dynamic {
		return "dynamic"
	}
	return text.Count(len(sk.Files), "file") + ", " + text.Bytes(sk.Size())
}

func skillsShow(ctx context.Context, l *cli.Link, args []string) error {
	if err := offersSkills(l); err != nil {
		return err
	}
	sk, err := skills.Find(ctx, l.Session, args[0])
	if err != nil {
		return cli.Unlisted(ctx, l, offer.Skills, args[0], err)
	}
	var f skills.File
	if len(args) > 1 && args[1] != sk.URI && args[1] != "SKILL.md" {
		f, err = skills.Read(ctx, l.Session, sk, args[1])
	} else {
		f, err = skills.Load(ctx, l.Session, sk)
	}
	if err != nil {
		return err
	}
	if sk.Dynamic && len(args) == 1 && l.Out.Format == output.FormatText && l.Supports(skills.DirectoryRead) {
		if sk.Files, err = skills.Directory(ctx, l.Session, sk); err != nil {
			return err
		}
	}
	result := slices.Concat([]byte(`{"skill":`), sk.Raw, []byte(`,"contents":`), jsonrpc.Get(f.Reply.Result, "contents"), []byte("}"))
	frames := slices.Concat(l.Responses(offer.Skills.Method()), l.Responses("skills/get"), [][]byte{f.Reply.Frame})
	return l.Print(output.Answer{Result: result, Frames: frames, Text: func(t *output.Text) {
		if len(args) == 1 {
			printSkill(t, l.Out.Width, sk)
		}
		t.Block(f.Text)
	}})
}

// printSkill writes what a skill's entry says.
func printSkill(t *output.Text, width int, sk offer.Skill) {
	rows := [][2]string{{"name", sk.Name}, {"description", sk.Description}, {"uri", sk.URI}}
	_ = jsonrpc.Members(sk.FrontMatter, func(key string, value []byte) bool { // was read before
		if s, ok := jsonrpc.String(value); ok && key != "name" && key != "description" {
			rows = append(rows, [2]string{key, s})
		} else if !ok {
			rows = append(rows, [2]string{key, string(output.OneLine(value))})
		}
		return true
	})
	verified := "✓ size, digest and front matter are as the entry says"
	if sk.Dynamic {
		verified = "! dynamic: the front matter matches; there is nothing to verify the rest by"
	}
	t.Fields(append(rows, [2]string{"files", weightOf(sk)}, [2]string{"verified", verified})...)
	files := [][]string{}
	for _, f := range sk.Files {
		row := []string{"  " + f.Path}
		if !sk.Dynamic {
			row = append(row, text.Bytes(f.Size))
		}
		files = append(files, row)
	}
	t.Table(width, files)
	t.Block("")
}

// verdict is what skills verify prints of a skill or a file of it.
type verdict struct {
	URI     string    `json:"uri"`
	Name    string    `json:"name,omitempty"`
	OK      bool      `json:"ok"`
	Dynamic bool      `json:"dynamic,omitempty"` // nothing but the front matter could be verified
	Problem string    `json:"problem,omitempty"`
	Files   []verdict `json:"files,omitempty"`
	path    string
}

func (v *verdict) fail(err error) {
	if err != nil {
		e := cli.Explain(context.Background(), err)
		v.OK, v.Problem = false, strings.TrimSuffix(e.Message+": "+e.Detail, ": ")
	}
}

func skillsVerify(ctx context.Context, l *cli.Link, args []string) error {
	if err := offersSkills(l); err != nil {
		return err
	}
	var all []verdict
	if len(args) > 0 {
		sk, err := skills.Find(ctx, l.Session, args[0])
		if err != nil {
			return cli.Unlisted(ctx, l, offer.Skills, args[0], err)
		}
		v, err := verifySkill(ctx, l, sk)
		if err != nil {
			return err
		}
		all = append(all, v)
	} else {
		list, err := l.List(ctx, offer.Skills)
		if err != nil {
			return err
		}
		for _, it := range list.Items {
			sk, bad := skills.Entry(l.Session, it)
			v := verdict{URI: it.URI, Name: it.Name}
			if v.fail(bad); bad == nil {
				if v, err = verifySkill(ctx, l, sk); err != nil {
					return err
				}
			}
			all = append(all, v)
		}
	}
	wrong := 0
	for _, v := range all {
		if !v.OK {
			wrong++
		}
	}
	raw, err := json.Marshal(map[string]any{"ok": wrong == 0, "skills": all})
	if err != nil {
		return err
	}
	if err := l.Print(output.Answer{Result: raw, Frames: l.Responses("resources/read"), Text: func(t *output.Text) { printVerdicts(t, l.Out.Width, all) }}); err != nil || wrong == 0 {
		return err
	}
	what := fmt.Sprintf("%d of %s do not match their entries", wrong, text.Count(len(all), "skill"))
	return &failure.Error{Kind: failure.Protocol, Server: l.Name(), Stage: "verify", Message: what, Next: "the report on stdout says where", Err: &skills.Mismatch{What: what}}
}

func verifySkill(ctx context.Context, l *cli.Link, sk offer.Skill) (verdict, error) {
	v := verdict{URI: sk.URI, Name: sk.Name, OK: true, Dynamic: sk.Dynamic}
	err := skills.Verify(ctx, l.Session, sk, func(f skills.Verdict) {
		one := verdict{URI: f.URI, path: f.Path, OK: true}
		one.fail(f.Err)
		v.OK = v.OK && one.OK
		v.Files = append(v.Files, one)
	})
	return v, err
}

func printVerdicts(t *output.Text, width int, all []verdict) {
	if len(all) == 0 {
		t.Block("none")
	}
	rows := [][]string{}
	line := func(indent, name string, v verdict) {
		word := "✓ verified"
		switch {
		case !v.OK:
			word = "✗ differs"
		case v.Dynamic:
			word = "! dynamic"
		}
		rows = append(rows, []string{indent + cmp.Or(name, v.URI), word, v.Problem})
	}
	for _, v := range all {
		line("", v.Name, v)
		for _, f := range v.Files {
			f.Dynamic = v.Dynamic
			line("  ", f.path, f)
		}
	}
	t.Table(width, rows)
}
