package session

import (
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// find is the subscription that lasts for uri, nil if there is none; the caller holds mu.
func (k *subscriptions) find(uri string) *subscription {
	i := slices.IndexFunc(k.all, func(sub *subscription) bool { return sub.URI == uri })
	if i < 0 {
		return nil
	}
	return k.all[i]
}

// isFull reports whether uri would be one too many to keep.
func (k *subscriptions) isFull(uri string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.find(uri) == nil && len(k.all) >= maxSubscriptions
}

// keep makes a subscription last. first is true where nobody reads yet what is due: the caller begins that.
func (k *subscriptions) keep(uri string) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sub := k.find(uri)
	if sub == nil {
		sub = &subscription{Subscription: Subscription{URI: uri, Since: time.Now()}, due: time.Now()}
		k.all = append(k.all, sub)
	}
	if sub.Err != nil {
		sub.Err, sub.due = nil, time.Now()
	}
	first, k.running = !k.running, true
	notify(k.wake)
	return first
}

// forget ends what keep began; live is whether the server knows of it.
func (k *subscriptions) forget(uri string) (live bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = slices.DeleteFunc(k.all, func(sub *subscription) bool { return sub.URI == uri })
	return k.live(uri)
}

// cloneAll returns those that last.
func (k *subscriptions) cloneAll() []*subscription {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all)
}

// snapshot copies what users see of those that last.
func (k *subscriptions) snapshot() []Subscription {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]Subscription, 0, len(k.all))
	for _, sub := range k.all {
		one := sub.Subscription
		one.Live = one.Err == nil && k.live(one.URI)
		out = append(out, one)
	}
	return out
}

// noteUpdate takes notice of an update; false if it is of nothing that lasts. The URI may be that of a part of what was subscribed to.
func (k *subscriptions) noteUpdate(uri string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	sub := k.find(uri)
	for _, one := range k.all {
		if sub == nil && strings.HasPrefix(uri, strings.TrimSuffix(one.URI, "/")+"/") {
			sub = one
		}
	}
	if sub == nil {
		return false
	}
	sub.Count++
	sub.due, sub.offline, sub.during = time.Now(), false, sub.reading
	notify(k.wake)
	return true
}

// noteRenewed notes what came of subscribing again over a new connection; gone is true for what was ended meanwhile.
func (k *subscriptions) noteRenewed(sub *subscription, err error) (gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sub.Err = err
	if sub.due.IsZero() {
		sub.due, sub.offline, sub.during = time.Now(), true, false
	}
	notify(k.wake)
	return k.find(sub.URI) != sub
}

// takeNext is a subscription whose resource is to be read, nil if there is none or no connection; the one that waits longest. u has
// what made the reading due, and during is whether the reading before ran then.
func (k *subscriptions) takeNext() (sub *subscription, u Update, during bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.all {
		if !one.due.IsZero() && (sub == nil || one.due.Before(sub.due)) {
			sub = one
		}
	}
	if sub == nil || k.over == nil {
		return nil, u, false
	}
	u, during = Update{At: sub.due, Offline: sub.offline}, sub.during
	sub.due, sub.reading, sub.during = time.Time{}, true, false
	return sub, u, during
}

// postpone reports whether a reading failed with its connection: the next one makes up for it.
func (k *subscriptions) postpone(sub *subscription, u Update) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if u.Err == nil || k.over != nil {
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
func (k *subscriptions) took(sub *subscription, u Update, during bool, result []byte) {
	content := ""
	if u.Err == nil {
		content = contentText(result)
	}
	k.mu.Lock()
	before, read, seen := sub.content, sub.read, sub.Count > 0
	k.mu.Unlock()
	if u.Err == nil && read {
		hunks, added, removed := text.Diff(before, content)
		u.Diff, u.Added, u.Removed = text.Clip(hunks, maxUpdate), added, removed
	}
	same := u.Err == nil && u.Diff == ""
	k.mu.Lock()
	defer k.mu.Unlock()
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
}
