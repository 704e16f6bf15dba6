package pane

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// MaxUpdateLines is how many lines of what changed are shown of one resource.
const MaxUpdateLines = 2000

// Unsubscribable is why nothing of the current server can be subscribed to.
func Unsubscribable(c *tui.Ctx) string {
	if why := Offline(c); why != "" {
		return why
	}
	if !c.Server.Supports("resources/subscribe") {
		return "the server does not offer subscriptions"
	}
	return ""
}

// subscriptionChanged is the outcome of subscribing or of its opposite.
type subscriptionChanged struct{ done string }

// Subscribe is the operation of a screen that keeps a resource subscribed.
func Subscribe(c *tui.Ctx, view string, s *session.Session, uri string) tea.Cmd {
	cmd, _ := c.Go(view, "resources/subscribe "+safe.Line(uri, 80), func(ctx context.Context) (any, error) {
		return subscriptionChanged{"subscribed to " + text.Clip(uri, 200)}, s.KeepSubscribed(ctx, uri)
	})
	return cmd
}

// Unsubscribe is the opposite of subscribe.
func Unsubscribe(c *tui.Ctx, view string, s *session.Session, uri string) tea.Cmd {
	cmd, _ := c.Go(view, "resources/unsubscribe "+safe.Line(uri, 80), func(ctx context.Context) (any, error) {
		return subscriptionChanged{"unsubscribed from " + text.Clip(uri, 200)}, s.EndSubscription(ctx, uri)
	})
	return cmd
}

// SubscriptionDone says how it went; false if the message is something else.
func SubscriptionDone(c *tui.Ctx, m tui.OpDone) (tea.Cmd, bool) {
	r, ok := m.Value.(subscriptionChanged)
	switch {
	case !ok:
		return nil, false
	case m.Err != nil:
		return c.Toast(tui.Failure, m.Err.Error()), true
	}
	return c.Toast(tui.Success, r.done), true
}
