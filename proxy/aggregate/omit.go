package aggregate

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/offer"
)

// Omission is what a merged list does not have: what is beyond a limit of its client, or what has no name where names have no
// prefix.
type Omission struct {
	List   string   `json:"list"`             // "tools" or "prompts"
	Count  int      `json:"count"`            // of items
	Client string   `json:"client,omitempty"` // the pattern of clients that the limit is for
	Limit  int      `json:"limit,omitempty"`
	Name   string   `json:"name,omitempty"`   // that several agents have, or that reads like another agent's
	Agents []string `json:"agents,omitempty"` // that have it
	// Message is String, in what is written.
	Message string `json:"message,omitempty"`
}

// String is such as "12 tools left out for cursor*: limit 40".
func (o Omission) String() string {
	what := fmt.Sprintf("%d %s left out", o.Count, o.List)
	switch {
	case o.Limit > 0:
		return fmt.Sprintf("%s for %s: limit %d", what, o.Client, o.Limit)
	case o.Name == "":
		return what + ": several agents have their names"
	case len(o.Agents) == 1:
		return what + ": " + text.Clip(o.Name, 64) + " of " + o.Agents[0] + " reads like another agent's name"
	}
	return what + ": " + text.Clip(o.Name, 64) + " is a name of " + text.Clip(strings.Join(o.Agents, " and "), 200)
}

// withMessages are omissions with their messages.
func withMessages(all []Omission) []Omission {
	for i := range all {
		all[i].Message = all[i].String()
	}
	return all
}

// selectEntries takes out of a list what has no name, and what is beyond the client's limit: agents take turns, each with its first.
func selectEntries(all []entry, kind offer.Kind, v view) (some []entry, left []Omission) {
	if v.Prefix == toolset.Never {
		left = omitNameless(all, kind)
		all = slices.DeleteFunc(all, func(e entry) bool { return e.name == "" })
	}
	if kind != offer.Tools || v.MaxTools == 0 || len(all) <= v.MaxTools {
		return all, withMessages(left)
	}
	has, take := map[string]int{}, map[string]int{}
	var agents []string
	for _, e := range all {
		if has[e.agent]++; has[e.agent] == 1 {
			agents = append(agents, e.agent)
		}
	}
	for n, i := v.MaxTools, 0; n > 0; i = (i + 1) % len(agents) {
		if a := agents[i]; take[a] < has[a] {
			take[a]++
			n--
		}
	}
	left = append(left, Omission{List: kind.String(), Count: len(all) - v.MaxTools, Client: cmp.Or(v.Match, "*"), Limit: v.MaxTools})
	return slices.DeleteFunc(all, func(e entry) bool {
		take[e.agent]--
		return take[e.agent] < 0
	}), withMessages(left)
}

// maxNameless bounds how many names are told one by one.
const maxNameless = 100

// omitNameless returns the items of a list that have no name, as omissions.
func omitNameless(all []entry, kind offer.Kind) (left []Omission) {
	at := map[string]int{}
	more := Omission{List: kind.String()}
	for _, e := range all {
		own := e.item.Name
		i, again := at[own]
		switch {
		case e.name != "":
		case again:
			left[i].Count++
			left[i].Agents = append(left[i].Agents, e.agent)
		case len(left) == maxNameless:
			more.Count++
		default:
			at[own] = len(left)
			left = append(left, Omission{List: kind.String(), Count: 1, Name: own, Agents: []string{e.agent}})
		}
	}
	if more.Count > 0 {
		left = append(left, more)
	}
	return left
}

// omissions are those of the lists that clients were given since the routes changed.
type omissions struct {
	mu   sync.Mutex
	seen map[string]Omission
}

// record keeps the latest of each kind, and logs the first.
func (o *omissions) record(log *slog.Logger, now []Omission) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range now {
		key := x.List + "\x00" + x.Client + "\x00" + x.Name
		_, again := o.seen[key]
		switch {
		case !again && len(o.seen) >= 2*maxNameless:
			continue
		case !again:
			log.Warn(x.String())
		}
		if o.seen == nil {
			o.seen = map[string]Omission{}
		}
		o.seen[key] = x
	}
}

func (o *omissions) all() []Omission {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Values(o.seen), func(a, b Omission) int { return strings.Compare(a.String(), b.String()) })
}

func (o *omissions) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = nil
}
