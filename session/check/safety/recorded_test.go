package safety_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// wire records frames as a session does.
type wire struct {
	*journal.Journal
	id     int
	server string
	hop    string
}

func recording(t *testing.T, o journal.Options) *wire {
	t.Helper()
	j := journal.New(o)
	t.Cleanup(func() { _ = j.Close() })
	return &wire{Journal: j, server: "s"}
}

func (w *wire) put(dir journal.Dir, kind journal.Kind, method, frame string) {
	e := journal.Entry{Server: w.server, Hop: w.hop, Conn: 1, Dir: dir, Kind: kind, Method: method}
	if kind != journal.Notification {
		e.ID = fmt.Sprint(w.id)
	}
	w.Append(e, []byte(frame))
}

// call is a call with what the server says while it runs.
func (w *wire) call(method, params, answer string, during ...string) {
	w.id++
	w.put(journal.Out, journal.Request, method, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	for _, m := range during {
		w.says(m)
	}
	w.put(journal.In, journal.Response, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, w.id, answer))
}

func (w *wire) says(method string) {
	w.put(journal.In, journal.Notification, method, fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
}

func text(s string) string {
	raw, _ := json.Marshal(s) // a string
	return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}]}`, raw)
}

const ghToken = "ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr"

// Secrets in results are found in what was recorded and in what other sections receive, and stand in no finding.
func TestSecretsInResults(t *testing.T) {
	subject := func() *check.Subject {
		return &check.Subject{Offer: check.Offer{
			Server: "s", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}`),
			Prompts: items(t, offer.Prompts, `{"name":"p"}`), Resources: items(t, offer.Resources, `{"name":"r","uri":"a:r"}`),
		}}
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	for _, live := range []bool{false, true} {
		o := journal.Options{}
		if !live {
			o.File = file
		}
		w := recording(t, o)
		w.call("tools/call", `{"name":"get","arguments":{}}`, `"result":{"content":[{"type":"text","text":"the token is `+ghToken+`"}],"structuredContent":{"is":"`+ghToken+`"}}`)
		w.call("tools/call", `{"name":"get","arguments":{}}`, text("nothing"))
		w.call("tools/call", `{"name":"get","arguments":{}}`, `"result":{"content":[],"structuredContent":{"items":[{"name":"a"},{"db_password":"hunt9rGreen"},{"db_password":"hunt9rBlue1"}],"nextPageToken":"q83hf92kdl2mzx8"}}`)
		w.call("tools/call", `{"name":"get","arguments":{}}`, text(`{"env":{"NPM":"npm_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr","PATH":"/usr/bin1:/bin"}}`))
		w.call("tools/call", `{"name":"echo","arguments":{"message":"`+ghToken+`"}}`, text("Echo: "+ghToken)) // it was given
		w.call("prompts/get", `{"name":"p"}`, `"error":{"code":-32603,"message":"401 for https://app:q83hf92kdl2@db.internal/"}`)
		w.call("resources/read", `{"uri":"a:r"}`, `"result":{"contents":[{"uri":"a:r","text":"API_SECRET=q83hf92kdl2mzx8pL0w7"}]}`)
		w.call("tools/call", `{"name":"unknown","arguments":{}}`, text(ghToken))
		w.server = "other"
		w.call("tools/call", `{"name":"echo","arguments":{}}`, text(ghToken))
		w.server = "s"
		sec := &safety.Section{Evidence: &contract.Recordings{Files: []string{file}}}
		if live {
			// The section comes before the one whose calls it looks at.
			sec = &safety.Section{Journal: w.Journal}
		} else if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		rep, err := check.Run(t.Context(), subject(), []check.Section{sec}, check.Tool{}, check.Watch{})
		require.NoError(t, err)
		var got []string
		for _, f := range rep.Findings {
			got = append(got, strings.TrimPrefix(f.ID, "safety/")+" "+string(f.Sure)+" "+f.Place.String()+": "+f.Message)
			if strings.Contains(fmt.Sprint(f), "A8s7") || strings.Contains(fmt.Sprint(f), "hunt9r") || strings.Contains(fmt.Sprint(f), "q83h") {
				t.Errorf("a secret: %+v", f)
			}
			if f.Place.Kind == check.OfTool && !strings.Contains(f.Evidence, ", entry ") {
				t.Errorf("%+v", f)
			}
		}
		want := []string{
			"secret-in-result likely prompt p: /message has a password in a URL, 11 characters, in 1 of 1 result",
			"secret-in-result possible resource a:r: /contents/0/text has a setting called API_SECRET, 20 characters, in 1 of 1 result",
			"secret-in-result likely tool get: /content/0/text has a GitHub token, 32 characters, in 1 of 4 results",
			"secret-in-result likely tool get: /content/0/text /env/NPM has an npm token, 32 characters, in 1 of 4 results",
			"secret-in-result possible tool get: /structuredContent/items/1/db_password has a secret by its name, 11 characters, in 1 of 4 results",
		}
		if !slices.Equal(got, want) {
			t.Errorf("live %v:\n%s\nwant\n%s", live, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if n := rep.Sections[1].Notes; len(n) != 1 || n[0] != "looked for secrets in 7 results" || rep.Sections[1].Counts.Warning != len(want) {
			t.Errorf("%q %+v", n, rep.Sections[1].Counts)
		}
	}
	// Calls that name no server count for the tools of those names, as there is nothing better.
	other := subject()
	other.Server = "t"
	rep, err := check.Run(t.Context(), other, []check.Section{&safety.Section{Evidence: &contract.Recordings{Files: []string{file}}}}, check.Tool{}, check.Watch{})
	if err != nil || len(rep.Findings) != 5+1 || !strings.Contains(strings.Join(rep.Sections[1].Notes, "\n"), "no recorded call names this server") {
		t.Errorf("%v %q %+v", err, rep.Sections[1].Notes, rep.Findings)
	}
	rep, err = check.Run(t.Context(), subject(), []check.Section{&safety.Section{Evidence: &contract.Recordings{Files: []string{file + ".no"}}}}, check.Tool{}, check.Watch{})
	if err != nil || len(rep.Findings) != 1 || rep.Findings[0].ID != "server/section-failed" {
		t.Errorf("%v %+v", err, rep.Findings)
	}
}

// A tool that is called read-only changes resources if the server says so during each of its calls, and at no other time.
func TestHintsAgainstBehaviour(t *testing.T) {
	const updated, changed = "notifications/resources/updated", "notifications/resources/list_changed"
	for _, c := range []struct {
		name  string
		does  func(w *wire)
		trips bool
	}{
		{"each call", func(w *wire) {
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
			w.call("tools/call", `{"name":"a"}`, text(""), changed)
		}, true},
		{"one call", func(w *wire) { w.call("tools/call", `{"name":"a"}`, text(""), updated) }, false},
		{"not each", func(w *wire) {
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
			w.call("tools/call", `{"name":"a"}`, text(""))
		}, false},
		{"by itself too", func(w *wire) {
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
			w.says(updated)
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
		}, false},
		{"another request too", func(w *wire) {
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
			w.call("ping", `{}`, `"result":{}`, updated)
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
		}, false},
		{"the list of tools", func(w *wire) {
			for range 3 {
				w.call("tools/call", `{"name":"a"}`, text(""), "notifications/tools/list_changed")
			}
		}, false},
		{"one that may", func(w *wire) {
			w.call("tools/call", `{"name":"b"}`, text(""), updated)
			w.call("tools/call", `{"name":"b"}`, text(""), updated)
		}, false},
		{"another server", func(w *wire) {
			w.server = "other"
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
			w.call("tools/call", `{"name":"a"}`, text(""), updated)
		}, false},
	} {
		w := recording(t, journal.Options{})
		c.does(w)
		all := examine(t, &safety.Section{Journal: w.Journal}, check.Subject{Offer: check.Offer{Server: "s", Tools: items(t, offer.Tools,
			`{"name":"a","annotations":{"readOnlyHint":true},"inputSchema":{}},{"name":"b","inputSchema":{}}`)}})
		if c.trips != slices.Equal(ids(all), []string{"hint-contradicts"}) || !c.trips && len(all) > 0 {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// A call that a router recorded too brought one result.
func TestResultsOfSeveralHops(t *testing.T) {
	w := recording(t, journal.Options{})
	const params = `{"name":"get","arguments":{},"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}}`
	w.call("tools/call", params, text("the token is "+ghToken))
	w.hop = "router"
	w.call("tools/call", params, text("the token is "+ghToken))
	all := examine(t, &safety.Section{Journal: w.Journal}, check.Subject{Offer: check.Offer{Server: "s", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}}`)}})
	if len(all) != 1 || !strings.HasSuffix(all[0].Message, ", in 1 of 1 result") {
		t.Errorf("%+v", all)
	}
}

// A server whose name goes on with a number is another one, unless the check itself has connected to it.
func TestServersWithNumbers(t *testing.T) {
	subject := func(others ...check.Offer) *check.Subject {
		return &check.Subject{Offer: check.Offer{Server: "db", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}}`)}, Others: others}
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	for _, c := range []struct {
		live   bool
		others []check.Offer
		want   string
	}{
		{true, nil, "1 of 2 results"}, {true, []check.Offer{{Server: "db-2"}}, ""}, {false, nil, ""},
	} {
		o := journal.Options{}
		if !c.live {
			o.File = file
		}
		w := recording(t, o)
		w.server = "db-2"
		w.call("tools/call", `{"name":"get","arguments":{}}`, text("the token is "+ghToken))
		w.server = "db"
		w.call("tools/call", `{"name":"get","arguments":{}}`, text("nothing"))
		sec := &safety.Section{Journal: w.Journal}
		if !c.live {
			require.NoError(t, w.Close())
			sec = &safety.Section{Evidence: &contract.Recordings{Files: []string{file}}}
		}
		got := ""
		for _, f := range examine(t, sec, *subject(c.others...)) {
			got += f.Message
		}
		if (c.want == "") != (got == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("live %v, others %v: %q, want %q", c.live, c.others, got, c.want)
		}
	}
}

// What was hidden in results of other servers is not counted, and a result of which only a part is looked at is.
func TestCountsOfResults(t *testing.T) {
	w := recording(t, journal.Options{})
	w.call("tools/call", `{"name":"get","arguments":{}}`, text("an address is [secret-7]"))
	w.call("tools/call", `{"name":"get","arguments":{}}`, text(strings.Repeat("a", 256<<10+1)))
	w.server = "other"
	w.call("tools/call", `{"name":"get","arguments":{}}`, text("an address is [secret-8], [secret-9]"))
	rep, err := check.Run(t.Context(), &check.Subject{Offer: check.Offer{Server: "s", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}}`)}}, []check.Section{&safety.Section{Journal: w.Journal}}, check.Tool{}, check.Watch{})
	require.NoError(t, err)
	notes := strings.Join(rep.Sections[1].Notes, "; ")
	for _, want := range []string{"looked for secrets in 2 results", "1 result was too large to be looked at as a whole", "1 text was hidden"} {
		assert.Contains(t, notes, want)
	}
}

// 100,000 recorded calls, with results as a list of things is.
func TestBudgetResults(t *testing.T) {
	budget.Skip(t)
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	w := recording(t, journal.Options{File: file})
	for i := range 100_000 {
		answer := fmt.Sprintf(`{"items":[{"id":"item-%d","name":"A thing","note":"See https://example.com/things/%d for it."}],"next":%d}`, i, i, i)
		quoted, _ := json.Marshal(answer) // a string
		w.call("tools/call", fmt.Sprintf(`{"name":"get","arguments":{"page":%d}}`, i), fmt.Sprintf(`"result":{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, quoted, answer))
	}
	require.NoError(t, w.Close())
	budget.Ceiling(t, "results of 100,000 recorded calls looked at for safety", budget.Best(func() time.Duration {
		start := time.Now()
		sec := &safety.Section{Evidence: &contract.Recordings{Files: []string{file}}}
		subject := &check.Subject{Offer: check.Offer{Server: "s", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}}`)}}
		rep, err := check.Run(t.Context(), subject, []check.Section{sec}, check.Tool{}, check.Watch{})
		if err != nil || !strings.Contains(string(rep.Sections[1].Figures), `"results":100000`) {
			t.Fatalf("%v: %s", err, rep.Sections[1].Figures)
		}
		return time.Since(start)
	}), 5*time.Second)
}

// What was hidden is a secret where its name says so, also when a text before it has the same, of which nobody knows.
func TestHiddenSecretSaidTwice(t *testing.T) {
	subject := &check.Subject{Offer: check.Offer{Server: "s", Tools: items(t, offer.Tools, `{"name":"get","inputSchema":{"type":"object"}}`)}}
	w := recording(t, journal.Options{})
	w.call("tools/call", `{"name":"get","arguments":{}}`, `"result":{"content":[{"type":"text","text":"your token is [secret-1], [secret-1]"}],"structuredContent":{"access_token":"[secret-1]"}}`)
	rep, err := check.Run(t.Context(), subject, []check.Section{&safety.Section{Journal: w.Journal}}, check.Tool{}, check.Watch{})
	if err != nil || len(rep.Findings) != 1 || !strings.HasPrefix(rep.Findings[0].Message, "/structuredContent/access_token has a secret by its name") {
		t.Fatalf("%v %+v", err, rep.Findings)
	}
	assert.Contains(t, strings.Join(rep.Sections[1].Notes, "\n"), "1 text was hidden")
}
