package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
)

// version is the module's version as the go command recorded it, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// clientInfo is how mcphud introduces itself to servers.
func clientInfo() session.Implementation {
	return session.Implementation{Name: "mcphud", Title: "mcphud", Version: version()}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of mcphud", Args: noArgs,
		Example: "  mcphud version\n  mcphud version --format json",
		RunE: a.action(func(context.Context, *cobra.Command, []string) error {
			raw, err := marshal(struct {
				Name    string `json:"name"`
				Version string `json:"version"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{"mcphud", version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			if err != nil {
				return err
			}
			return a.printer().print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
				t.block("mcphud version " + version())
			}})
		}),
	}
}
