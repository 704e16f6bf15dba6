package servers

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// secretsKept is the outcome of looking which secrets are kept for a server.
type secretsKept struct {
	srv   config.Server
	names []string
}

// secretsForgotten is the outcome of removing them.
type secretsForgotten struct {
	server string
	names  []string
}

func (v *servers) secretsAction() tui.Action {
	return tui.Action{
		ID: "servers.secrets", Word: "secrets", Title: "kept secrets", Group: "Server",
		Help: "Show which secrets that the server asked for are kept in the keychain, and forget them.",
		Disabled: func(c *tui.Ctx) string {
			switch why := v.none(c); {
			case why != "":
				return why
			case v.secrets == nil || v.selected().Config().Source.File == "":
				return "nothing is kept for a server without a file"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			srv := current(v.selected())
			cmd, _ := c.Replace("servers", "secrets\x00"+srv.Name, "look which secrets of "+safe.Line(srv.Name, 80)+" are kept", func(ctx context.Context) (any, error) {
				kept, err := v.secrets.Recall(ctx, srv.InputScope())
				return secretsKept{srv, slices.Sorted(maps.Keys(kept))}, err
			})
			return cmd
		},
	}
}

// showSecrets asks whether those that are kept are to be forgotten.
func (v *servers) showSecrets(c *tui.Ctx, k secretsKept, err error) tea.Cmd {
	name := safe.Line(k.srv.Name, 60)
	switch {
	case err != nil && len(k.names) == 0:
		return c.Toast(tui.Failure, err.Error())
	case len(k.names) == 0:
		return c.Toast(tui.Note, "no secrets of "+name+" are kept")
	}
	return c.Confirm(tui.Confirmation{
		Title: "Forget the secrets of " + name + "?", Yes: "forget", No: "keep them", Danger: true,
		Body: "Kept: " + safe.Line(strings.Join(k.names, ", "), 300) + "\n\nThey are asked for again when the server is started the next time.",
		OnYes: func(c *tui.Ctx) tea.Cmd {
			cmd, _ := c.Replace("servers", "secrets\x00"+k.srv.Name, "forget the secrets of "+name, func(ctx context.Context) (any, error) {
				names, err := v.secrets.Forget(ctx, k.srv.InputScope())
				return secretsForgotten{k.srv.Name, names}, err
			})
			return cmd
		},
	})
}
