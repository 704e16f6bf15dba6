package login

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
)

// authClientCommand prints who mcphud is, for authorization servers that look that up.
func (a *app) authClientCommand() *cobra.Command {
	return &cobra.Command{
		Use: "client [flags] [URL]", Short: "Print the client-id metadata document to serve at a URL", Annotations: cli.Rule("none"), Args: cobra.MaximumNArgs(1),
		Long: "client prints what authorization servers read of mcphud at a URL of yours: serve it there as application/json, without a redirect. Without a URL it is for " +
			"that of " + cli.DocumentSetting.Env + ".\n\nSee mcphud help login.",
		Example: "  mcphud auth client https://example.com/mcphud.json > mcphud.json",
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if err := a.Options.Check(cmd); err != nil {
				return err
			}
			logins, err := a.Logins(config.Settings{})
			if err != nil {
				return err
			}
			at := logins.Document
			if len(args) > 0 {
				if at = args[0]; config.CheckClientMetadataURL(at) != nil {
					return failure.UsageError("\""+at+"\" is not an https URL with a path", "name the URL that you serve it at")
				}
			}
			if at == "" {
				return failure.UsageError("no URL was named", "name the URL that you serve it at, or set "+cli.DocumentSetting.Env)
			}
			doc, err := auth.ClientMetadata(at)
			if err != nil {
				return err
			}
			return a.Printer().Print(output.Answer{Result: doc, Frames: [][]byte{output.OneLine(doc)}, Text: func(t *output.Text) { t.Block(string(doc)) }})
		}),
	}
}
