package tui

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
)

// metaAction asks for what goes into _meta of every request to the current server.
func metaAction() Action {
	return Action{
		ID: "app.meta", Word: "meta", Title: "request metadata", Group: "Call",
		Help: "Set what goes into _meta of every request to this server, such as tenant_id=acme, until the program ends.",
		Disabled: func(c *Ctx) string {
			if c.Server == nil {
				return "no server is open"
			}
			return ""
		},
		Run: func(c *Ctx) tea.Cmd {
			s := c.Server
			return c.Ask(Question{
				Label: "_meta (KEY=VALUE KEY:=JSON)", Initial: metaText(s.Meta()),
				Check: func(text string) string {
					if _, err := metaOf(text); err != nil {
						return err.Error()
					}
					return ""
				},
				OnDone: func(c *Ctx, text string) tea.Cmd {
					meta, err := metaOf(text)
					if err == nil {
						err = s.SetMeta(meta)
					}
					if err != nil {
						return c.Toast(Failure, err.Error())
					}
					return nil
				},
			})
		},
	}
}

// metaOf reads words, or an object where a value has spaces.
func metaOf(text string) (json.RawMessage, error) {
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") {
		return json.RawMessage(text), session.CheckMeta(json.RawMessage(text))
	}
	return session.ParseMeta(strings.Fields(text))
}

// metaText is what metaOf reads, for people.
func metaText(meta json.RawMessage) string {
	words := session.MetaWords(meta)
	if slices.ContainsFunc(words, func(w string) bool { return len(strings.Fields(w)) != 1 }) {
		return string(meta)
	}
	return strings.Join(words, " ")
}
