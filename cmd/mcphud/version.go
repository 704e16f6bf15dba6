package main

import (
	"cmp"
	"context"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
)

// release is the version that the source says it is, which is also that of the first part of CHANGELOG.md with a version. .release/version
// reads it here.
const release = "v0.1.0"

// unreleased follows it in a program that was not built from the tag of that name, or from source that was not as tagged: of a clone, say.
const unreleased = "-dev"

// reported are the modules whose versions a report of a problem needs: they decide what is on the wire, on the screen and in the sandbox.
var reported = []string{
	"github.com/mark3labs/mcp-go", "charm.land/bubbletea/v2", "charm.land/bubbles/v2", "charm.land/glamour/v2", "modernc.org/sqlite", "modernc.org/quickjs",
}

// build is what made the program.
type build struct {
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`   // hash, of 12 digits where no more is known; "" where the go command did not know
	Date     string            `json:"date,omitempty"`     // of the commit, RFC 3339
	Modified bool              `json:"modified,omitempty"` // the source was not as committed
	Go       string            `json:"go"`
	System   string            `json:"system"`
	Modules  map[string]string `json:"modules"` // path to version
}

// pseudo matches versions that the go command makes up for commits without a tag, with the beginning of the commit's hash.
var pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(\+|$)`)

// versionOf is the version of a program whose module has the one that the go command recorded: that of a tag, or the one of the source with
// a mark that it is not released. commit is what the former says of it, "" for nothing.
func versionOf(module string) (version, commit string) {
	if m := pseudo.FindStringSubmatch(module); m != nil {
		return release + unreleased, m[1]
	}
	if !strings.HasPrefix(module, "v") || strings.Contains(module, "+dirty") {
		return release + unreleased, ""
	}
	return module, ""
}

// built reads what the go command recorded in the program.
func built() build {
	b := build{Name: "mcphud", Version: release + unreleased, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version, b.Commit = versionOf(info.Main.Version)
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
	for _, path := range reported {
		for _, m := range info.Deps {
			if m.Path == path {
				b.Modules[path] = cmp.Or(m.Replace, m).Version
			}
		}
	}
	return b
}

// version is that of the program: its tag's, or the one that its source says, as not released.
func version() string { return built().Version }

// lines are the build for people.
func (b build) lines() string {
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
	for _, path := range reported {
		if v := b.Modules[path]; v != "" {
			s.WriteString(path + " " + v + "\n")
		}
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// clientInfo is how mcphud introduces itself to servers.
func clientInfo() session.Implementation {
	return session.Implementation{Name: "mcphud", Title: "mcphud", Version: version()}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of mcphud, its commit, Go and the modules that matter", Args: noArgs,
		Example: "  mcphud version\n  mcphud version --format json",
		RunE: a.action(func(context.Context, *cobra.Command, []string) error {
			b := built()
			raw, err := marshal(b)
			if err != nil {
				return err
			}
			return a.printer().print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) { t.block(b.lines()) }})
		}),
	}
}
