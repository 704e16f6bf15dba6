package session_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// lister is a scripted server whose tools/list answers are the given pages; it gets the cursor and the number of the call.
func lister(caps string, page func(n int, cursor string) string) session.Options {
	return session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(caps)
		n := 0
		p.Serve(func(env jsonrpc.Envelope) {
			switch env.Method {
			case "tools/list":
				n++
				p.Answer(env, page(n, string(jsonrpc.Get(env.Params, "cursor"))))
			case "change":
				p.Send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				p.Answer(env, "{}")
			}
		})
	})}
}

// TestD1_ToolsVerbatim: unknown members, order, spelling of numbers and white space of every page survive, and only
// nextCursor goes.
func TestD1_ToolsVerbatim(t *testing.T) {
	const tool = `{ "x-first":1.0, "name":"a","inputSchema":{"$schema":"s","type":["object","null"],"oneOf":[{}]},"icons":[{"src":"d"}],"big":12345678901234567890,"_meta":{} }`
	for _, c := range []struct{ pages, want string }{
		{`{"tools":[` + tool + `]}`, `{"tools":[` + tool + `]}`},
		{`{ "nextCursor" : null, "tools":[] }`, `{ "nextCursor" : null, "tools":[] }`},
		{`{"tools":[T1],"nextCursor":"","z":1}|{"tools":[ T2 ],"y":2}`, `{"tools":[T1,T2],"z":1}`},
		{`{"nextCursor":"c", "tools":[ T1 , T2 ] }|{"tools":[]}`, `{"tools":[ T1 , T2 ] }`},
		{`{"a":[1],"nextCursor":"c"  ,"tools":[]}|{"tools":[T1],"nextCursor":"d"}|{"tools":[T2, T3]}`, `{"a":[1]  ,"tools":[T1,T2, T3]}`},
		{`{"tools":[T1], "nextCursor":"c"}|{"tools":[T2]}`, `{"tools":[T1,T2]}`},
	} {
		expand := func(s string) string {
			for _, n := range []string{"1", "2", "3"} {
				s = strings.ReplaceAll(s, "T"+n, strings.Replace(tool, `"a"`, `"t`+n+`"`, 1))
			}
			return s
		}
		pages := strings.Split(expand(c.pages), "|")
		synctest.Test(t, func(t *testing.T) {
			_, s := sessiontest.Open(t, lister(`{"tools":{}}`, func(n int, _ string) string { return pages[n-1] }), config.Server{})
			l, err := s.List(t.Context(), offer.Tools)
			if err != nil || string(l.JSON()) != expand(c.want) || len(l.Pages) != len(pages) {
				t.Errorf("%v\n got %s\nwant %s", err, l.JSON(), expand(c.want))
			}
			assert.NoError(t, jsonrpc.Valid(l.JSON()))
			for _, it := range l.Items {
				if it.Flaw != nil || string(it.InputSchema) != `{"$schema":"s","type":["object","null"],"oneOf":[{}]}` {
					t.Errorf("%+v", it)
				}
			}
		})
	}
}

// TestSalvage: a malformed item is one flagged row, in its place, with its bytes.
func TestSalvage(t *testing.T) {
	items := []string{
		`{"name":"good","inputSchema":{"type":"object"}}`, `7`, `{"name":3,"inputSchema":{}}`, `{"name":"noschema"}`,
		`{"name":"good","inputSchema":{}}`, `{"inputSchema":{}}`, `null`, `{"name":"last","title":null,"inputSchema":{}}`,
	}
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, lister(`{}`, func(int, string) string { return `{"tools":[` + strings.Join(items, ",") + `]}` }), config.Server{})
		l, err := s.List(t.Context(), offer.Tools)
		if err != nil || len(l.Items) != len(items) {
			t.Fatal(err, len(l.Items))
		}
		for i, it := range l.Items {
			if string(it.Raw) != items[i] {
				t.Errorf("raw %s, want %s", it.Raw, items[i])
			}
			if good := i == 0 || i == len(items)-1; (it.Flaw == nil) != good {
				t.Errorf("%s: %v", it.Raw, it.Flaw)
			}
		}
		assert.Contains(t, l.Items[4].Flaw.Error(), "twice")
	})
}

// TestListOfTooManyItems: millions of tiny items in few bytes take no memory without bound; the first ones are shown.
func TestListOfTooManyItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := strings.Repeat(`{"name":"","inputSchema":{}},`, offer.MaxItems*2/3)
		page = `{"tools":[` + strings.TrimSuffix(page, ",") + `],"nextCursor":%q}`
		_, s := sessiontest.Open(t, lister(`{"tools":{}}`, func(n int, _ string) string {
			return fmt.Sprintf(page, strconv.Itoa(n))
		}), config.Server{})
		l, err := s.List(t.Context(), offer.Tools)
		if err == nil || !strings.Contains(err.Error(), "more than 100000 items") || len(l.Items) != offer.MaxItems || len(l.Pages) != 2 {
			t.Errorf("%d items of %d pages: %v", len(l.Items), len(l.Pages), err)
		}
	})
}

// TestPaging: all pages come, "" is a cursor like any other, and a server that repeats one or never ends is stopped with
// what came before.
func TestPaging(t *testing.T) {
	tool := func(n int) string { return fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, n) }
	for name, c := range map[string]struct {
		page  func(n int, cursor string) string
		items int
		want  string
	}{
		"three pages": {items: 3, page: func(n int, cursor string) string {
			want := []string{``, `""`, `"x\"y"`}[n-1]
			if cursor != want {
				return `{"tools":"wrong cursor"}`
			}
			return `{"tools":[` + tool(n) + `]` + []string{`,"nextCursor":""`, `,"nextCursor":"x\"y"`, ``}[n-1] + `}`
		}},
		"repeats": {items: 3, want: `repeats the cursor "b" after 3 pages`, page: func(n int, _ string) string {
			return `{"tools":[` + tool(n) + `],"nextCursor":"` + []string{"a", "b", "b"}[n-1] + `"}`
		}},
		"repeats empty": {items: 2, want: `repeats the cursor ""`, page: func(n int, _ string) string { return `{"tools":[` + tool(n) + `],"nextCursor":""}` }},
		"endless":       {items: session.MaxPages, want: "does not end", page: func(n int, _ string) string { return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(n), n) }},
		"no array":      {want: "tools is not an array", page: func(int, string) string { return `{"tools":{}}` }},
		"no tools":      {want: "has no tools", page: func(int, string) string { return `{}` }},
		"odd cursor":    {want: "nextCursor is not a string", page: func(int, string) string { return `{"tools":[],"nextCursor":7}` }},
		"not an object": {want: "not an object", page: func(int, string) string { return `[]` }},
		"second is bad": {items: 1, want: "not an object", page: func(n int, _ string) string {
			return []string{`{"tools":[` + tool(1) + `],"nextCursor":"a"}`, `1`}[n-1]
		}},
		"cursor is null": {items: 1, page: func(n int, _ string) string { return `{"tools":[` + tool(n) + `],"nextCursor":null}` }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, s := sessiontest.Open(t, lister(`{}`, c.page), config.Server{})
				l, err := s.List(t.Context(), offer.Tools)
				if len(l.Items) != c.items || (err == nil) != (c.want == "") {
					t.Fatalf("%d items, %v", len(l.Items), err)
				}
				if err != nil && (failure.KindOf(err) != failure.Protocol || !strings.Contains(err.Error(), c.want) || l.Err == nil) {
					t.Error(err)
				}
			})
		})
	}
}

// TestS7_ListChanged: a change shows without anybody asking, several at once make one request, a server that says so
// for ever is asked once a second, and a list that nobody opened is not fetched.
func TestS7_ListChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		_, s := sessiontest.Open(t, lister(`{"tools":{"listChanged":true}}`, func(n int, _ string) string {
			asked = n
			return `{"tools":[` + strings.Repeat(`{"name":"t","inputSchema":{}},`, n-1) + `{"name":"last","inputSchema":{}}]}`
		}), config.Server{})
		change := func(n int) {
			for range n {
				if _, err := s.Call(t.Context(), "change", nil, session.CallOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		change(3)
		time.Sleep(5 * time.Second)
		assert.Equalf(t, asked, 0, "a list was fetched that nobody asked for")
		if l, err := s.List(t.Context(), offer.Tools); err != nil || len(l.Items) != 1 {
			t.Fatal(err)
		}
		rev := s.Listing(offer.Tools).Rev
		change(5)
		time.Sleep(session.ListRest + session.ListDebounce)
		synctest.Wait()
		if l := s.Listing(offer.Tools); len(l.Items) != 2 || l.Rev == rev || asked != 2 {
			t.Errorf("%d items after %d requests", len(l.Items), asked)
		}
		for range 100 {
			change(1)
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if asked > 14 || asked < 10 {
			t.Errorf("asked %d times in 10 s", asked)
		}
		if l, err := s.List(t.Context(), offer.Tools); err != nil || len(l.Items) != asked {
			t.Errorf("%d items, %d requests", len(l.Items), asked)
		}
	})
}

// TestListCache: a list is fetched once, until ttlMs is over or somebody insists; concurrent callers share one request.
func TestListCache(t *testing.T) {
	for ttl, want := range map[string]int{``: 1, `,"ttlMs":5000`: 2, `,"ttlMs":0`: 4} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			_, s := sessiontest.Open(t, lister(`{}`, func(n int, _ string) string { asked = n; return `{"tools":[]` + ttl + `}` }), config.Server{})
			done := make(chan error, 3)
			list := func() {
				_, err := s.List(t.Context(), offer.Tools)
				done <- err
			}
			go list()
			go list()
			synctest.Wait()
			list()
			time.Sleep(6 * time.Second)
			for range 3 {
				assert.NoError(t, <-done)
			}
			list()
			synctest.Wait()
			// With a ttl of 0 the callers at the same time still may share one.
			if asked != want && (ttl != `,"ttlMs":0` || asked != 3) {
				t.Errorf("%s: asked %d times, want %d", ttl, asked, want)
			}
			before := asked
			if _, err := s.Refresh(t.Context(), offer.Tools); err != nil || asked != before+1 {
				t.Error("Refresh used the memory", err)
			}
		})
	}
}

// Whoever gave up before it was his turn does not ask, nor does he take away why the list could not be had.
func TestListThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		_, s := sessiontest.Open(t, lister(`{"tools":{}}`, func(int, string) string { asked++; return `{"tools":7}` }), config.Server{})
		_, want := s.List(t.Context(), offer.Tools)
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := s.List(gone, offer.Tools); failure.KindOf(err) != failure.Interrupted {
			t.Errorf("%v", err)
		}
		if got := s.Listing(offer.Tools).Err; want == nil || got == nil || got.Error() != want.Error() || asked != 1 {
			t.Errorf("%v, want %v; asked %d times", got, want, asked)
		}
	})
}

// TestListReloadsAfterReconnect: what was open is there again, fresh.
func TestListReloadsAfterReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(conn int, p *sessiontest.Peer) {
			p.Handshake(`{}`)
			p.Serve(func(env jsonrpc.Envelope) {
				p.Answer(env, fmt.Sprintf(`{"tools":[{"name":"of%d","inputSchema":{}}]}`, conn))
			})
		})}, config.Server{})
		if _, err := s.List(t.Context(), offer.Tools); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, s.Reconnect(t.Context()))
		synctest.Wait()
		if l := s.Listing(offer.Tools); len(l.Items) != 1 || l.Items[0].Name != "of2" {
			t.Errorf("%+v", l.Items)
		}
	})
}
