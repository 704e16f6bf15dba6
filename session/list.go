package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
)

// Bounds of lists.
const (
	maxPages     = 10_000                 // of one list
	listDebounce = 100 * time.Millisecond // list_changed notifications that come together make one refresh
	listRest     = time.Second            // between two automatic refreshes, however often the server changes
)

// Listing is a snapshot of what is known, without I/O.
func (s *Session) Listing(kind offer.Kind) offer.Listing { return s.lists.listing(kind) }

// List returns the whole list, from memory unless it was never loaded, the server said that it changed, or its time to
// live is over. A list whose last pages cannot be had is returned with an error. The listing is shared with everybody who asked: it must not be
// modified.
func (s *Session) List(ctx context.Context, kind offer.Kind) (offer.Listing, error) {
	return s.list(ctx, kind, false)
}

// Refresh is List without using what is in memory, but for a load that runs already: that one is waited for.
func (s *Session) Refresh(ctx context.Context, kind offer.Kind) (offer.Listing, error) {
	return s.list(ctx, kind, true)
}

// list returns a list from memory, or loads it. However many callers want it, one of them loads, and the others wait. Where that one
// gives up (its ctx is cancelled), one of those who still wait loads instead.
func (s *Session) list(ctx context.Context, kind offer.Kind, force bool) (offer.Listing, error) {
	for {
		if err := ctx.Err(); err != nil { // or it would take the place of why the list could not be had
			return s.Listing(kind), failure.Wrap(err, s.Title(), kind.Method())
		}
		cur, load, wait := s.lists.claim(kind, force)
		if wait != nil {
			select {
			case <-wait:
			case <-ctx.Done():
				return s.Listing(kind), failure.Wrap(ctx.Err(), s.Title(), kind.Method())
			}
			// An error of the server is everybody's; that the caller who loaded gave up is only its own.
			if cur := s.Listing(kind); cur.Err == nil || failure.KindOf(cur.Err) != failure.Interrupted {
				return cur, cur.Err
			}
			continue // it was cancelled by someone who is not us
		}
		if load == nil {
			return cur, nil
		}
		s.notifyChange()
		err := failure.Wrap(s.load(ctx, kind), s.Title(), kind.Method())
		cur, again := s.lists.endLoad(kind, err)
		close(load)
		if again != nil {
			again.wake()
		}
		s.notifyChange()
		return cur, err
	}
}

// load fetches all pages. Items are replaced when the first load shows a page, and at the end of later ones.
func (s *Session) load(ctx context.Context, kind offer.Kind) error {
	next := offer.Listing{Kind: kind}
	seen, names := map[string]bool{}, map[string]bool{}
	before := s.lists.listing(kind)
	var params []byte
	var size int64
	limit := 4 * max(s.cfg.MaxFrame, config.DefaultMaxFrame)
	var c, earlier *conn // the connections over which this page came, and the one before
	// By which connection the pages came matters: a list of which the halves are of two servers must not be used for either.
	of := "" // the server of all pages
	publish := func(done bool) {
		var changes offer.Changes
		var marks map[string]offer.Mark
		if done && before.Loaded {
			changes, marks = offer.Compare(kind, before.Items, next.Items, before.Marks)
		}
		s.lists.publish(kind, next, before, changes, marks, done, of)
	}
	for {
		r, err := s.Call(ctx, kind.Method(), params, CallOptions{inner: innerOptions{over: &c}})
		if err != nil {
			return err
		}
		if earlier == nil {
			of = c.identity()
		} else if c != earlier {
			of = "" // the pages need not make one list
		}
		earlier = c
		if size += int64(len(r.Result)); s.opts.MaxList > 0 && size > s.opts.MaxList {
			publish(true)
			return &failure.Error{Kind: failure.Protocol, Message: "the list is larger than " + text.Bytes(s.opts.MaxList), Next: "the items up to there are shown"}
		}
		p, err := s.opts.Pages.Read(r.Result, kind)
		if err != nil {
			return &failure.Error{Kind: failure.Protocol, Message: err.Error(), Next: "see the answer as it was sent", Remedy: failure.SeeTraffic, Err: err}
		}
		items := flagItems(c, kind, p.Items, names)
		if len(next.Pages) == 0 {
			next.Items = slices.Clip(items) // a list of one page needs no copy
		} else {
			next.Items = append(next.Items, items...)
		}
		next.Pages = append(next.Pages, p)
		if p.More || len(next.Items) > offer.MaxItems {
			next.Items = slices.Clip(next.Items[:offer.MaxItems])
			publish(true)
			return &failure.Error{Kind: failure.Protocol, Message: fmt.Sprintf("the list has more than %d items", offer.MaxItems), Next: "the items up to there are shown"}
		}
		if ttl := p.Hints.TTL; len(next.Pages) == 1 || ttl != nil && (next.Hints.TTL == nil || *ttl < *next.Hints.TTL) {
			next.Hints = p.Hints
		}
		if p.Cursor == nil {
			publish(true)
			return nil
		}
		publish(false)
		s.notifyChange()
		var stop error
		switch c := *p.Cursor; {
		case seen[c]:
			stop = &failure.Error{
				Kind: failure.Protocol, Message: fmt.Sprintf("the server repeats the cursor %q after %d pages", text.Clip(c, 80), len(next.Pages)),
				Next: "the items up to there are shown",
			}
		case len(next.Pages) >= maxPages || size > limit:
			stop = &failure.Error{
				Kind: failure.Protocol, Message: fmt.Sprintf("the list does not end: %d pages, %s", len(next.Pages), text.Bytes(size)),
				Next: "the items up to there are shown; raise the size limit", Remedy: failure.RaiseFrameLimit,
			}
		}
		if stop != nil {
			publish(true)
			return stop
		}
		seen[*p.Cursor] = true
		params = fmt.Appendf(nil, `{"cursor":%s}`, jsonrpc.Quote(*p.Cursor))
	}
}

// flagItems flags what only the whole list or the connection that it came over shows: names given twice, tools that cannot be called over HTTP. It
// returns items, or a copy where there is something to flag.
func flagItems(c *conn, kind offer.Kind, items []offer.Item, seen map[string]bool) []offer.Item {
	copied := false
	flag := func(i int) *offer.Item {
		if !copied {
			items, copied = slices.Clone(items), true
		}
		return &items[i]
	}
	for i := range items {
		it := items[i]
		key := it.Name
		if kind == offer.Resources || kind == offer.Templates || kind == offer.Skills {
			key = it.URI // their names need not be unique
		}
		if seen[key] && key != "" && it.Flaw == nil {
			flag(i).Flaw = fmt.Errorf("%s appears twice in the list", text.Clip(key, 80))
		}
		seen[key] = true
		if kind == offer.Tools && c.traits.HTTP != nil && c.era == Modern {
			if err := offer.CheckHeaders(it); err != nil {
				bad := flag(i)
				bad.Barred = err
				if bad.Flaw == nil {
					bad.Flaw = err
				}
			}
		}
	}
	return items
}

// Seen says that somebody looked at an item: it is not marked any more. With "" all items of the list are seen.
func (s *Session) Seen(kind offer.Kind, key string) {
	if s.lists.unmark(kind, key) {
		s.notifyChange()
	}
}

// identity is how a server introduced itself: what is kept of one is not that of another.
func (c *conn) identity() string {
	return fmt.Sprintf("%s\n%s\n%s\n%s", c.version, c.serverInfo, c.capabilities, c.instructions)
}

// Invalidate says that what is in memory of the lists may not be so any more: List asks the server again.
func (s *Session) Invalidate() {
	for k := range offer.NumKinds {
		s.changedList(k)
	}
}

// changedList notes that a list is out of date.
func (s *Session) changedList(kind offer.Kind) {
	s.results.clear()
	s.lists.markStale(kind)
	s.notifyChange()
}

// refreshLoop loads lists again after the server said that they changed, and after a reconnect.
func (s *Session) refreshLoop(c *conn) {
	pause := func(d time.Duration) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-c.Context().Done():
			return false
		}
	}
	for {
		for _, kind := range s.lists.staleKinds() {
			// The listing shows the error. What failed is tried again with the next change.
			_, err := s.Refresh(c.Context(), kind)
			if err != nil {
				s.lists.noteFailure(kind)
			}
		}
		select {
		case <-c.dirty:
		case <-c.Context().Done():
			return
		}
		if !pause(listDebounce) {
			return
		}
		select {
		case <-c.dirty: // came while we waited; the refresh that follows covers it
		default:
		}
		if since := time.Since(c.refreshed); since < listRest && !pause(listRest-since) {
			return
		}
		c.refreshed = time.Now()
	}
}
