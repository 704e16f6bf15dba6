package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
)

// authClientCommand prints who mcphud is, for authorization servers that look that up.
func (a *app) authClientCommand() *cobra.Command {
	return &cobra.Command{
		Use: "client [flags] [URL]", Short: "Print the client-id metadata document to serve at a URL", Annotations: rule("none"), Args: cobra.MaximumNArgs(1),
		Long: "client prints what authorization servers read of mcphud at a URL of yours: serve it there as application/json, without a redirect. Without a URL it is for " +
			"that of " + documentSetting.env + ".\n\nSee mcphud help login.",
		Example: "  mcphud auth client https://example.com/mcphud.json > mcphud.json",
		RunE: a.action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if err := a.o.check(cmd); err != nil {
				return err
			}
			logins, err := a.logins(config.Settings{})
			if err != nil {
				return err
			}
			at := logins.Document
			if len(args) > 0 {
				if at = args[0]; config.CheckClientMetadataURL(at) != nil {
					return usageError("\""+at+"\" is not an https URL with a path", "name the URL that you serve it at")
				}
			}
			if at == "" {
				return usageError("no URL was named", "name the URL that you serve it at, or set "+documentSetting.env)
			}
			doc, err := auth.ClientMetadata(at)
			if err != nil {
				return err
			}
			return a.printer().print(answer{result: doc, frames: [][]byte{oneLine(doc)}, text: func(t *textOutput) { t.block(string(doc)) }})
		}),
	}
}
