package conform

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// In the modern era the end of its stream cancels a request over HTTP: the server sees it, and has no answer to give before.
func TestCancelledByTheEndOfTheStream(t *testing.T) {
	t.Parallel()
	left := make(chan struct{}, 10)
	waits := on("tools/list", func(x *turn) bool {
		select {
		case <-x.r.Context().Done():
			left <- struct{}{}
			return true
		case <-time.After(20 * time.Second):
			return x.result(`{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`)
		}
	})
	r := triedWithin(t, everything(t), waits, modern, time.Minute, "cancel-survived")
	if len(r.Findings) > 0 || len(passed(r)) != 1 {
		t.Errorf("%+v %+v", r.Findings, r.Sections)
	}
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Error("nothing was cancelled")
	}
}

// What is not tried, since nobody knows the revision that the server speaks, is said of each rule that not all revisions have.
func TestRevisionThatNobodyKnows(t *testing.T) {
	t.Parallel()
	later := on("initialize", swapping(`"protocolVersion":"2025-11-25"`, `"protocolVersion":"2099-01-01"`))
	r := triedWithin(t, everything(t), later, rev2511, 20*time.Second, "version-supported", "origin", "discovery")
	for _, id := range []string{"version-supported", "discovery"} {
		if !strings.HasPrefix(why(r, id), unknownPrefix+"the server answers initialize with 2099-01-01") {
			t.Errorf("%s: %q", id, why(r, id))
		}
	}
	if notes := strings.Join(r.Sections[1].Notes, "\n"); !strings.Contains(notes, "version-supported") {
		t.Errorf("%q", notes)
	}
}

// How often the same is wrong is counted past the bound on what is kept.
func TestObservedIsCounted(t *testing.T) {
	t.Parallel()
	l := newLog()
	c := &conn{t: &target{log: l}, number: 1}
	for i := range maxSame + 7 {
		l.frame(c, journal.In, fmt.Appendf(nil, `{"id":%d,"result":{}}`, i))
	}
	l.finish()
	if len(l.findings) != maxSame {
		t.Fatalf("%d are kept", len(l.findings))
	}
	assert.Equalf(t, l.times[faultOf(l.findings[0])], maxSame+7, "times")
	assert.Equalf(t, l.findings[0].Rule, rules.Find("live", "jsonrpc-version"), "the rule")
}

// The bytes of one stream are bounded, however many events they come in.
func TestStreamOfManyBytes(t *testing.T) {
	t.Parallel()
	c := &conn{t: &target{log: newLog()}}
	c.unchecked.Store(true)
	const events = 80
	event := "data: " + strings.Repeat("x", maxBody/(events-10)) + "\n\n"
	var all []io.Reader
	for range events {
		all = append(all, strings.NewReader(event))
	}
	a, err := c.stream(answer{}, io.MultiReader(all...))
	if err == nil || !strings.Contains(err.Error(), "more than 64 MB") || len(a.events) > events-10 {
		t.Errorf("%d events, %v", len(a.events), err)
	}
}
