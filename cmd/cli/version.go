package cli

import (
	"cmp"
	"context"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session"
)

// Release is the version that the source says it is, which is also that of the first part of CHANGELOG.md with a version. .release/version
// reads it here.
const Release = "v0.1.0"

// unreleased follows it in a program that was not built from the tag of that name, or from source that was not as tagged: of a clone, say.
const unreleased = "-dev"

// Reported are the modules whose versions a report of a problem needs: they decide what is on the wire, on the screen and in the sandbox.
var Reported = []string{
	"github.com/mark3labs/mcp-go", "charm.land/bubbletea/v2", "charm.land/bubbles/v2", "charm.land/glamour/v2", "modernc.org/sqlite", "modernc.org/quickjs",
}

// Build is what made the program.
type Build struct {
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`   // hash, of 12 digits where no more is known; "" where the go command did not know
	Date     string            `json:"date,omitempty"`     // of the commit, RFC 3339
	Modified bool              `json:"modified,omitempty"` // the source was not as committed
	Go       string            `json:"go"`
	System   string            `json:"system"`
	Modules  map[string]string `json:"modules"` // path to version
}

// Pseudo matches versions that the go command makes up for commits without a tag, with the beginning of the commit's hash.
var Pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(\+|$)`)

// VersionOf is the version of a program whose module has the one that the go command recorded: that of a tag, or the one of the source with
// a mark that it is not released. commit is what the former says of it, "" for nothing.
func VersionOf(module string) (version, commit string) {
	if m := Pseudo.FindStringSubmatch(module); m != nil {
		return Release + unreleased, m[1]
	}
	if !strings.HasPrefix(module, "v") || strings.Contains(module, "+dirty") {
		return Release + unreleased, ""
	}
	return module, ""
}

// Built reads what the go command recorded in the program.
func Built() Build {
	b := Build{Name: "mcphud", Version: Release + unreleased, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version, b.Commit = VersionOf(info.Main.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, path := range Reported {
		for _, m := range info.Deps {
			if m.Path == path {
				b.Modules[path] = cmp.Or(m.Replace, m).Version
			}
		}
	}
	return b
}

// Version is that of the program: its tag's, or the one that its source says, as not released.
func Version() string { return Built().Version }

// Lines are the build for people.
func (b Build) Lines() string {
	var s strings.Builder
	s.WriteString("mcphud " + b.Version + "\n")
	if b.Commit != "" {
		s.WriteString("commit " + b.Commit[:min(12, len(b.Commit))])
		if b.Date != "" {
			s.WriteString(" of " + b.Date)
		}
		if b.Modified {
			s.WriteString(", with changes that are not committed")
		}
		s.WriteString("\n")
	}
	s.WriteString(b.Go + " " + b.System + "\n")
	for _, path := range Reported {
		if v := b.Modules[path]; v != "" {
			s.WriteString(path + " " + v + "\n")
		}
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// ClientInfo is how mcphud introduces itself to servers.
func ClientInfo() session.Implementation {
	return session.Implementation{Name: "mcphud", Title: "mcphud", Version: Version()}
}

// RegisterVersion adds the flag --version to the root command, which then prints the version and does nothing else. It is the last flag of
// all: nothing is registered after it.
func (a *App) RegisterVersion(root *cobra.Command) {
	root.LocalFlags() // takes over the persistent ones, which help lists in the order in which they came
	wanted := root.Flags().BoolP("version", "v", false, "version for mcphud")
	flags.Grouped(root.Flags(), flags.GroupHelp, "version")
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if !*wanted {
			return run(cmd, args)
		}
		_, a.Fail = io.WriteString(a.Printer(), Built().Lines()+"\n")
		return nil
	}
}

// VersionCommand is mcphud version.
func (a *App) VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of mcphud, its commit, Go and the modules that matter", Args: NoArgs,
		Example: "  mcphud version\n  mcphud version --format json",
		RunE: a.Action(func(context.Context, *cobra.Command, []string) error {
			b := Built()
			return a.Printer().Show(b, func(t *output.Text) { t.Block(b.Lines()) })
		}),
	}
}
