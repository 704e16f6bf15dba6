package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
)

// Bounds of what KeepSubscribed keeps, and of how much it reads.
const (
	maxSubscriptions = 100                    // of one session
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

// KeepSubscribed subscribes to a resource over this connection and those after it, until EndSubscription. What it holds is read
// now and after each update, to tell what changed; at most 100 resources are kept so.
func (s *Session) KeepSubscribed(ctx context.Context, uri string) error {
	if s.subs.isFull(uri) {
		return &failure.Error{Kind: failure.Usage, Server: s.Title(), Stage: "resources/subscribe", Message: fmt.Sprintf("there are %d subscriptions already", maxSubscriptions), Next: "end one of them"}
	}
	if err := s.Subscribe(ctx, uri); err != nil {
		return err
	}
	if !s.link.enter() {
		return nil // whoever closed it ends the subscription with the connection
	}
	defer s.wg.Done()
	if s.subs.keep(uri) {
		s.wg.Go(s.readUpdates)
	}
	return nil
}

// EndSubscription ends what KeepSubscribed began. It is forgotten also where the server cannot be told.
func (s *Session) EndSubscription(ctx context.Context, uri string) error {
	live := s.subs.forget(uri)
	s.notifyChange()
	if !live {
		return nil
	}
	return s.Unsubscribe(ctx, uri)
}

// Subscriptions are those of KeepSubscribed in the order in which they were made, without I/O.
func (s *Session) Subscriptions() []Subscription { return s.subs.snapshot() }

// resubscribe makes the subscriptions again that an earlier connection had.
func (s *Session) resubscribe(c *conn) {
	all := s.subs.cloneAll()
	if len(all) == 0 {
		return
	}
	s.wg.Go(func() {
		for _, sub := range all {
			err := s.Subscribe(c.Context(), sub.URI)
			if c.Context().Err() != nil {
				return
			}
			if s.subs.noteRenewed(sub, err) && err == nil { // ended meanwhile
				_ = s.Unsubscribe(c.Context(), sub.URI) // the connection may end first, and the subscription with it
			}
			s.notifyChange()
		}
	})
}

// readUpdates reads what changed until the session ends.
func (s *Session) readUpdates() {
	for {
		sub, u, during := s.subs.takeNext()
		if sub == nil {
			select {
			case <-s.subs.wake:
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
		if u.Err = err; !s.subs.postpone(sub, u) {
			s.subs.took(sub, u, during, r.Result)
			s.notifyChange()
		}
		select {
		case <-time.After(readRest):
		case <-s.ctx.Done():
			return
		}
	}
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
			b.WriteString(indentJSON(text.Cut(c.Text, maxContent)) + "\n")
		}
		if b.Len() >= maxContent {
			break
		}
	}
	return strings.Clone(text.Cut(b.String(), maxContent))
}

// indentJSON is JSON over several lines, so that a difference is told by the member, and anything else as it is.
func indentJSON(s string) string {
	var b bytes.Buffer
	if trimmed := strings.TrimSpace(s); trimmed == "" || !strings.ContainsAny(trimmed[:1], "{[") || json.Indent(&b, []byte(trimmed), "", "  ") != nil {
		return s
	}
	return b.String()
}
