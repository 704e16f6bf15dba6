package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// OnNotification calls f with every notification of the server, over all connections, until stop is called. It runs on the
// goroutine that reads from the server, which waits for it. f must not modify the frame.
func (s *Session) OnNotification(f func(frame []byte)) (stop func()) { return s.subs.listen(f) }

// handleNotification takes the notifications of a server; they are in the journal already.
func (s *Session) handleNotification(c *conn, env jsonrpc.Envelope, frame []byte) {
	s.subs.callListeners(frame)
	switch env.Method {
	case "notifications/elicitation/complete":
		if s.opts.Pending != nil {
			s.opts.Pending.Complete(s.Name(), env.Params)
			s.notifyChange()
		}
		return
	case "notifications/tools/list_changed":
		s.changedList(offer.Tools)
	case "notifications/prompts/list_changed":
		s.changedList(offer.Prompts)
	case "notifications/resources/list_changed":
		s.changedList(offer.Resources)
		s.changedList(offer.Templates)
	case "notifications/resources/updated":
		if s.subs.noteUpdate(jsonrpc.GetString(env.Params, "uri")) {
			s.notifyChange()
		}
		return
	default:
		s.taskNotified(c, env.Method, env.Params)
		return
	}
	c.wake()
}

// wake wakes the goroutine that refreshes lists.
func (c *conn) wake() {
	select {
	case c.dirty <- struct{}{}:
	default: // it knows
	}
}

// AwaitListening waits until the server acknowledged or refused the stream of list_changed that a connection of the modern era opens by itself:
// what is said of its messages is not complete before. It returns at once where no stream is asked for, or nothing is connected; the error is
// that of ctx.
func (s *Session) AwaitListening(ctx context.Context) error {
	c, _, _, _ := s.link.get() // why there is none does not matter
	if c == nil {
		return nil
	}
	select {
	case <-c.listens:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// listen opens the modern era's stream for list_changed, where the server advertises any.
func (s *Session) listen(c *conn) {
	filter := mcp.SubscriptionFilter{
		ToolsListChanged:     c.supports("notifications/tools/list_changed"),
		PromptsListChanged:   c.supports("notifications/prompts/list_changed"),
		ResourcesListChanged: c.supports("notifications/resources/list_changed"),
	}
	if c.era != Modern || filter.IsEmpty() {
		close(c.listens)
		return
	}
	var opened atomic.Bool
	answered := sync.OnceFunc(func() { close(c.listens) })
	s.wg.Go(func() {
		s.keepListening(c.Context(), c, filter, func(err error) {
			answered()
			if again := opened.Swap(true); again && err == nil { // changes in between were not notified
				s.Invalidate()
				c.wake()
			}
		})
	})
}

// keepListening holds one subscriptions/listen stream open until ctx ends or the server says that it has no such thing. One
// that broke, or that something between us and the server refused, is opened again. opened is called each time the server
// acknowledges, and with the reason why it never will; while one stream ends, its reader may be at it still.
func (s *Session) keepListening(ctx context.Context, c *conn, filter mcp.SubscriptionFilter, opened func(error)) {
	body, err := json.Marshal(filter)
	if err != nil { // flags and strings always marshal
		opened(err)
		return
	}
	for n := 1; ctx.Err() == nil; n++ {
		spec := &rpc.Request{
			Method: string(mcp.MethodSubscriptionsListen), Params: fmt.Appendf(nil, `{"notifications":%s}`, body), Hidden: true,
			OnNotification: func(frame []byte) { checkAcknowledged(frame, filter, opened) }, Meta: s.withMeta(nil),
		}
		c.completeForEra(spec, nil)
		started := time.Now()
		_, err := c.Call(ctx, spec)
		var e *failure.Error
		if errors.As(err, &e) && (e.Code != nil && e.Status < 500 || c.Ended() != nil || e.Kind == failure.ChannelClosed && c.traits.HTTP == nil) {
			opened(err)
			return
		}
		if time.Since(started) > time.Minute {
			n = 1
		}
		select {
		case <-time.After(s.opts.Retry.wait(n)):
		case <-ctx.Done():
		}
	}
	opened(failure.Wrap(context.Cause(ctx), s.Title(), string(mcp.MethodSubscriptionsListen)))
}

// checkAcknowledged looks whether frame confirms what filter asks for.
func checkAcknowledged(frame []byte, filter mcp.SubscriptionFilter, opened func(error)) {
	env, err := jsonrpc.Scan(frame)
	if err != nil || env.Method != "notifications/subscriptions/acknowledged" {
		return
	}
	granted := jsonrpc.Get(env.Params, "notifications")
	for _, uri := range filter.ResourceSubscriptions {
		found := false
		_ = jsonrpc.Elements(jsonrpc.Get(granted, "resourceSubscriptions"), func(v []byte) bool { // absent: none granted
			got, _ := jsonrpc.String(v)
			found = found || got == uri
			return !found
		})
		if !found {
			return // of another stream
		}
	}
	opened(nil)
}

// Notify sends a notification, over the connection that there is.
func (s *Session) Notify(ctx context.Context, method string, params json.RawMessage) error {
	c, err := s.acquire(ctx, method)
	if err != nil {
		return err
	}
	return failure.Wrap(c.Notify(ctx, method, params, nil), s.Title(), method)
}

// Subscribe asks for notifications/resources/updated about one resource; they arrive as journal entries, and at OnNotification. It ends with
// Unsubscribe or with the connection: KeepSubscribed is for those that last. In the modern era it is a stream of its own
// (subscriptions/listen), which the server has to acknowledge for that URI; one that does not within the server's time limit is an error.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	for {
		c, err := s.acquire(ctx, "resources/subscribe")
		if err != nil {
			return err
		}
		if c.era != Modern {
			_, err := s.Call(ctx, string(mcp.MethodResourcesSubscribe), fmt.Appendf(nil, `{"uri":%s}`, jsonrpc.Quote(uri)), CallOptions{})
			if err == nil {
				s.subs.noteSubscribed(c, uri)
			}
			return err
		}
		if w := s.watch(c, uri); w != nil {
			return failure.Wrap(s.await(ctx, w, uri), s.Title(), "subscriptions/listen")
		}
		// The connection was replaced meanwhile; the new one knows of no subscription.
	}
}

// watch is the stream for uri over c, opened if there is none; nil when c is not the session's connection any more.
func (s *Session) watch(c *conn, uri string) *watch {
	life, stop := context.WithCancel(c.Context())
	w := &watch{stop: stop, opened: make(chan struct{})}
	is := s.subs.add(c, uri, w, &s.wg, func() {
		defer s.subs.remove(uri, w) // or nobody could subscribe again
		var once sync.Once
		s.keepListening(life, c, mcp.SubscriptionFilter{ResourceSubscriptions: []string{uri}}, func(err error) {
			once.Do(func() {
				w.err = err
				close(w.opened)
			})
		})
	})
	if is != w {
		stop()
	}
	return is
}

// await waits for the server to acknowledge a subscription, which ends where it does not.
func (s *Session) await(ctx context.Context, w *watch, uri string) error {
	timer := time.NewTimer(s.timeout(0, s.cfg.Timeout, 30*time.Second))
	defer timer.Stop()
	var err error
	select {
	case <-w.opened:
		err = w.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = &failure.Error{Kind: failure.Timeout, Message: "the server did not acknowledge the subscription to " + strconv.Quote(text.Clip(uri, 100)), Next: "check that it supports subscriptions to this resource"}
	}
	if err != nil {
		s.subs.remove(uri, w)
	}
	return err
}

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	c, err := s.acquire(ctx, "resources/unsubscribe")
	if err != nil {
		return err
	}
	if c.era == Modern {
		if w := s.subs.watching(uri); w != nil {
			s.subs.remove(uri, w)
		}
		return nil
	}
	_, err = s.Call(ctx, string(mcp.MethodResourcesUnsubscribe), fmt.Appendf(nil, `{"uri":%s}`, jsonrpc.Quote(uri)), CallOptions{})
	if err == nil {
		s.subs.noteUnsubscribed(uri)
	}
	return err
}
