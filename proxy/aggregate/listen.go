package aggregate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// listener is a stream of subscriptions/listen.
type listener struct {
	id     []byte // of the request, which each notification names
	filter mcp.SubscriptionFilter
	uris   []string // that it follows, under the client's mutex
	mail   mailbox
}

// wants reports whether the filter names the lists that a notification is about. Those of resources go by uris.
func (l *listener) wants(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodNotificationToolsListChanged:
		return l.filter.ToolsListChanged
	case mcp.MethodNotificationPromptsListChanged:
		return l.filter.PromptsListChanged
	case mcp.MethodNotificationResourcesListChanged:
		return l.filter.ResourcesListChanged
	}
	return false
}

// put adds a notification.
func (l *listener) put(frame []byte) {
	if env, err := jsonrpc.Scan(frame); err == nil {
		l.mail.put(l.tagNotification(env.Method, env.Params))
	}
}

// tagNotification is a notification with the subscription's id in place of the agent's own.
func (l *listener) tagNotification(method string, params []byte) []byte {
	out := []byte("{")
	_ = jsonrpc.Members(params, func(key string, v []byte) bool { // was scanned
		if key != "_meta" {
			out = append(append(append(append(out, jsonrpc.Quote(key)...), ':'), v...), ',')
		}
		return true
	})
	return jsonrpc.NewNotification(method, fmt.Appendf(out, `"_meta":{%q:%s}}`, mcp.MetaKeySubscriptionID, l.id))
}

// maxListeners bounds the streams of one client, or of the callers of one principal.
const maxListeners = 1000

// subscribe serves subscriptions/listen until the client closes the stream.
func (x *exchange) subscribe(ctx context.Context) ([]byte, error) {
	c := x.c
	l := &listener{id: x.env.ID, mail: newMailbox()}
	wanted := jsonrpc.Get(x.env.Params, "notifications")
	if err := json.Unmarshal(wanted, &l.filter); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: notifications names no kind that can be listened to").With("field", "notifications")
	}
	uris := l.filter.ResourceSubscriptions
	if len(uris) > maxWatched {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: the maximum of subscriptions is %d", maxWatched).With("field", "notifications.resourceSubscriptions")
	}
	// Notifications count from now on, but the acknowledgement goes first.
	l.uris = uris
	c.mu.Lock()
	full := len(c.listeners) >= maxListeners
	if !full {
		c.listeners[l] = struct{}{}
	}
	c.mu.Unlock()
	if full {
		return nil, jsonrpc.Errorf(jsonrpc.KindQueueFull, "too many notification streams: the maximum of a client is %d; close some", maxListeners)
	}
	var granted []string
	defer func() {
		c.mu.Lock()
		delete(c.listeners, l)
		c.mu.Unlock()
		c.background(func(ctx context.Context) {
			for _, uri := range granted {
				_ = c.unsubscribe(ctx, uri) // nobody is left who could be notified
			}
		})
	}()
	for _, uri := range uris {
		if slices.Contains(granted, uri) {
			continue
		}
		if err := c.subscribe(ctx, uri); err != nil {
			x.s.log.Debug("cannot subscribe to a resource", "uri", uri, "err", err)
			continue
		}
		granted = append(granted, uri)
	}
	c.mu.Lock()
	l.uris = granted
	c.mu.Unlock()
	said := l.filter
	said.ResourceSubscriptions = granted
	body, err := json.Marshal(map[string]any{"notifications": said})
	if err != nil { // flags and strings always marshal
		return nil, err
	}
	l.mail.Prepend(l.tagNotification(string(mcp.MethodNotificationSubscriptionsAcknowledged), body))
	// Agents tell of changes to those who are connected to them.
	for _, agent := range c.agents() {
		c.fetch(agent, hello)
	}
	x.s.health.wake()
	x.pump(ctx, l.mail)
	return []byte(`{"resultType":"complete"}`), nil
}
