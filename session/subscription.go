package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

const (
	maxSubscriptions = 100
	maxUpdates       = 20                     // of one resource that are kept
	maxUpdate        = 32 << 10               // bytes of the difference that one made
	maxContent       = 128 << 10              // bytes of a resource that are compared
	readLimit        = 30 * time.Second       // for one reading
	readRest         = 300 * time.Millisecond // between two readings, however often resources change
)

// Subscription is a resource that KeepSubscribed keeps subscribed, and what became of it.
type Subscription struct {
	URI     string
	Since   time.Time
	Live    bool     // the server knows of it, over the connection that there is
	Err     error    // why it does not, nil if it does or is not connected
	Count   int      // of notifications/resources/updated
	Updates []Update // the last ones with what they changed, newest first; several notifications may make one
}

// Update is one change of a resource.
type Update struct {
	At             time.Time // of the last notification, or of the connection after which the content was another
	Offline        bool      // it changed while there was no connection
	Diff           string    // of the content as text, as hunks of a unified diff; "" if that is the same
	Added, Removed int       // lines of it
	Err            error     // why it could not be read
}

// subscriptions are those of a session; guarded by Session.mu.
type subscriptions struct {
	all     []*subscription // in the order in which they were made
	wake    chan struct{}   // cap 1: something is to be read
	running bool
}

type subscription struct {
	Subscription
	read    bool      // content holds what was read
	content string    // as text, at most maxContent bytes
	due     time.Time // of what made content outdated; zero if it is not
	offline bool      // that was a time without a connection
	reading bool      // a reading runs
	during  bool      // due is when a reading ran, which may have found already what is new
}

func (k *subscriptions) find(uri string) *subscription {
	for _, sub := range k.all {
		if sub.URI == uri {
			return sub
		}
	}
	return nil
}

// KeepSubscribed subscribes to a resource over this connection and those after it, until EndSubscription. What it holds is read
// now and after each update, to tell what changed; at most 100 resources are kept so.
func (s *Session) KeepSubscribed(ctx context.Context, uri string) error {
	s.mu.Lock()
	have, n := s.kept.find(uri) != nil, len(s.kept.all)
	s.mu.Unlock()
	if !have && n >= maxSubscriptions {
		return &failure.Error{Kind: failure.Usage, Server: s.Title(), Stage: "resources/subscribe", Message: fmt.Sprintf("there are %d subscriptions already", n), Next: "end one of them"}
	}
	if err := s.Subscribe(ctx, uri); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil // whoever closed it ends the subscription with the connection
	}
	sub := s.kept.find(uri)
	if sub == nil {
		sub = &subscription{Subscription: Subscription{URI: uri, Since: time.Now()}, due: time.Now()}
		s.kept.all = append(s.kept.all, sub)
	}
	if sub.Err != nil {
		sub.Err, sub.due = nil, time.Now()
	}
	if !s.kept.running {
		s.kept.running, s.kept.wake = true, make(chan struct{}, 1)
		s.wg.Go(s.readUpdates)
	}
	notify(s.kept.wake)
	return nil
}

// EndSubscription ends what KeepSubscribed began. It is forgotten also where the server cannot be told.
func (s *Session) EndSubscription(ctx context.Context, uri string) error {
	s.mu.Lock()
	s.kept.all = slices.DeleteFunc(s.kept.all, func(sub *subscription) bool { return sub.URI == uri })
	_, legacy := s.subs[uri]
	live := s.conn != nil && (legacy || s.watches[uri] != nil)
	s.mu.Unlock()
	s.notifyChange()
	if !live {
		return nil
	}
	return s.Unsubscribe(ctx, uri)
}

// Subscriptions are those of KeepSubscribed in the order in which they were made, without I/O.
func (s *Session) Subscriptions() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Subscription, 0, len(s.kept.all))
	for _, sub := range s.kept.all {
		one := sub.Subscription
		_, legacy := s.subs[one.URI]
		one.Live = s.conn != nil && one.Err == nil && (legacy || s.watches[one.URI] != nil)
		out = append(out, one)
	}
	return out
}

// updated takes notice of an update. The URI may be that of a part of what was subscribed to.
func (s *Session) updated(uri string) {
	s.mu.Lock()
	sub := s.kept.find(uri)
	for _, one := range s.kept.all {
		if sub == nil && strings.HasPrefix(uri, strings.TrimSuffix(one.URI, "/")+"/") {
			sub = one
		}
	}
	if sub != nil {
		sub.Count++
		sub.due, sub.offline, sub.during = time.Now(), false, sub.reading
		notify(s.kept.wake)
	}
	s.mu.Unlock()
	if sub != nil {
		s.notifyChange()
	}
}

// resubscribe makes the subscriptions again that an earlier connection had.
func (s *Session) resubscribe(c *conn) {
	s.mu.Lock()
	all := slices.Clone(s.kept.all)
	s.mu.Unlock()
	if len(all) == 0 {
		return
	}
	s.wg.Go(func() {
		for _, sub := range all {
			err := s.Subscribe(c.Context(), sub.URI)
			if c.Context().Err() != nil {
				return
			}
			s.mu.Lock()
			gone := s.kept.find(sub.URI) != sub
			sub.Err = err
			if sub.due.IsZero() {
				sub.due, sub.offline, sub.during = time.Now(), true, false
			}
			notify(s.kept.wake)
			s.mu.Unlock()
			if gone && err == nil { // ended meanwhile
				_ = s.Unsubscribe(c.Context(), sub.URI) // the connection may end first, and the subscription with it
			}
			s.notifyChange()
		}
	})
}

// readUpdates reads what changed until the session ends.
func (s *Session) readUpdates() {
	for {
		sub, u, during := s.nextDue()
		if sub == nil {
			select {
			case <-s.kept.wake:
			case <-s.ctx.Done():
				return
			}
			continue
		}
		ctx, stop := context.WithTimeout(s.ctx, readLimit) // also while the server asks something: the others wait
		r, err := s.ReadResource(ctx, sub.URI, CallOptions{})
		stop()
		if s.ctx.Err() != nil {
			return
		}
		if u.Err = err; !s.postponed(sub, u) {
			s.took(sub, u, during, r.Result)
		}
		select {
		case <-time.After(readRest):
		case <-s.ctx.Done():
			return
		}
	}
}

// nextDue is a subscription whose resource is to be read, nil if there is none or no connection; the one that waits longest. u has
// what made the reading due, and during is whether the reading before ran then.
func (s *Session) nextDue() (sub *subscription, u Update, during bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.kept.all {
		if !one.due.IsZero() && (sub == nil || one.due.Before(sub.due)) {
			sub = one
		}
	}
	if sub == nil || s.conn == nil {
		return nil, u, false
	}
	u, during = Update{At: sub.due, Offline: sub.offline}, sub.during
	sub.due, sub.reading, sub.during = time.Time{}, true, false
	return sub, u, during
}

// postponed is whether a reading failed with its connection: the next one makes up for it.
func (s *Session) postponed(sub *subscription, u Update) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.Err == nil || s.conn != nil {
		return false
	}
	if sub.due.IsZero() {
		sub.due = u.At
	}
	sub.reading, sub.during = false, false
	return true
}

// took notes what a resource holds now. Where that is what the reading before found, and the notification came during that one,
// both tell of the same update.
func (s *Session) took(sub *subscription, u Update, during bool, result []byte) {
	content := ""
	if u.Err == nil {
		content = contentText(result)
	}
	s.mu.Lock()
	before, read, seen := sub.content, sub.read, sub.Count > 0
	s.mu.Unlock()
	if u.Err == nil && read {
		hunks, added, removed := text.Diff(before, content)
		u.Diff, u.Added, u.Removed = text.Clip(hunks, maxUpdate), added, removed
	}
	same := u.Err == nil && u.Diff == ""
	s.mu.Lock()
	sub.reading = false
	if u.Err == nil {
		sub.content, sub.read = content, true
	} else {
		sub.during = false // it found nothing
	}
	first := !read && !seen // what it held when it was subscribed to
	if !(first && u.Err == nil) && !(same && (u.Offline || during)) {
		sub.Updates = append([]Update{u}, sub.Updates[:min(len(sub.Updates), maxUpdates-1)]...) // snapshots share the old ones
	}
	s.mu.Unlock()
	s.notifyChange()
}

// contentText is what a result of resources/read holds as text; of bytes it has size and digest.
func contentText(result []byte) string {
	contents, err := offer.Contents(result)
	if err != nil {
		return text.Cut(string(result), maxContent)
	}
	var b strings.Builder
	for _, c := range contents {
		if len(contents) > 1 {
			fmt.Fprintf(&b, "%s %s\n", c.URI, c.MIME)
		}
		if c.Data != nil {
			fmt.Fprintf(&b, "%s of bytes, sha256 %x\n", text.Bytes(len(c.Data)), sha256.Sum256(c.Data))
		} else if c.Text != "" {
			b.WriteString(indented(text.Cut(c.Text, maxContent)) + "\n")
		}
		if b.Len() >= maxContent {
			break
		}
	}
	return strings.Clone(text.Cut(b.String(), maxContent))
}

// indented is JSON over several lines, so that a difference is told by the member, and anything else as it is.
func indented(s string) string {
	var b bytes.Buffer
	if trimmed := strings.TrimSpace(s); trimmed == "" || !strings.ContainsAny(trimmed[:1], "{[") || json.Indent(&b, []byte(trimmed), "", "  ") != nil {
		return s
	}
	return b.String()
}
