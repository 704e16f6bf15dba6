package filter_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// recorded is a journal of a call that fails, one that is never answered, and what came beside them. Its entries are numbered
// from 1 on:
//
//	1 → tools/call echo #7     2 ← its answer, isError, after 120 ms
//	3 ← progress               4 stderr
//	5 → resources/read "abc"   6 ← bad output       7 state
func recorded(t testing.TB) *journal.Journal {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	at := time.Date(2026, 11, 22, 10, 31, 0, 0, time.Local)
	add := func(after time.Duration, e journal.Entry, body string) {
		e.Time, e.Conn = at.Add(after), 1
		if e.Server == "" {
			e.Server = "files"
		}
		j.Append(e, []byte(body))
	}
	add(0, journal.Entry{Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: "7"}, `{"id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"gr\u00fc\u00df dich"}}}`)
	add(120*time.Millisecond, journal.Entry{Dir: journal.In, Kind: journal.Response, ID: "7"}, `{"id":7,"result":{"isError":true,"content":[{"type":"text","text":"`+strings.Repeat("Wrong ", 3000)+`"}]}}`)
	add(30*time.Second, journal.Entry{Dir: journal.In, Kind: journal.Notification, Method: "notifications/progress"}, `{"method":"notifications/progress","params":{"progress":1}}`)
	add(time.Minute, journal.Entry{Dir: journal.In, Kind: journal.Stderr}, "listening at /tmp/socket")
	add(2*time.Minute, journal.Entry{Server: "kb", Dir: journal.Out, Kind: journal.Request, Method: "resources/read", ID: `"abc"`}, `{"id":"abc","method":"resources/read","params":{"uri":"kb://a b,c"}}`)
	add(24*time.Hour, journal.Entry{Dir: journal.In, Kind: journal.Bad, Note: "not JSON"}, "oops")
	add(25*time.Hour, journal.Entry{Kind: journal.State, Note: "Connecting → Connected"}, "")
	return j
}

// matching are the numbers of the entries that pass, as text.
func matching(t *testing.T, j *journal.Journal, o filter.Options, expr string) string {
	t.Helper()
	f, err := o.Parse(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	var out []byte
	for _, e := range j.Snapshot(0, nil) {
		if f.Match(j, &e) {
			out = append(out, byte('0'+e.Seq))
		}
		if f.Match(j, &e) != (f.Finds(j, &e) && !f.Excludes(j, &e)) {
			t.Errorf("%s: entry %d: Match is not Finds without Excludes", expr, e.Seq)
		}
	}
	return string(out)
}

func TestMatch(t *testing.T) {
	j := recorded(t)
	for expr, want := range map[string]string{
		"":                                "1234567",
		"  ":                              "1234567",
		"echo":                            "12",
		"ECHO":                            "", // a capital asks for capitals
		"tools echo":                      "12",
		`"tools/call echo"`:               "12",
		`"echo tools/call"`:               "",
		"-echo":                           "34567",
		`-"tools/call echo"`:              "34567",
		"#7":                              "12",
		"req":                             "15",
		"kb":                              "5",
		`"`:                               "5", // of its id
		"-":                               "",
		"kb://":                           "5",
		"Connected":                       "7",
		"method:tools/call":               "12",
		"method:TOOLS":                    "",
		"method:tools,progress":           "123",
		"method:tools|resources":          "125",
		"method:=tools":                   "",
		"method:=tools/call":              "12",
		"method:/^(tools|res).*[dl]$/":    "125",
		"METHOD:tools":                    "12",
		"-method:tools":                   "34567",
		"tool:echo":                       "12",
		"tool:=ech":                       "",
		`tool:="kb://a b,c"`:              "5",
		`tool:kb*`:                        "",
		"id:7":                            "12",
		"id:abc":                          "5",
		`id:"\"abc\""`:                    "5",
		"id:7,abc":                        "125",
		"id:a":                            "",
		"dir:in":                          "2346",
		"dir:out,in":                      "123456",
		"-dir:in,out":                     "7",
		"kind:req":                        "15",
		"kind:request,stderr":             "145",
		"kind:res|note|bad":               "236",
		"status:error":                    "12",
		"status:pending":                  "5",
		"status:ok,Pending":               "5",
		"server:kb":                       "5",
		"server:files kind:state":         "7",
		">100ms":                          "12",
		"<100ms":                          "",
		"<1s":                             "12",
		">=120ms":                         "12",
		">120ms":                          "",
		"->100ms":                         "34567",
		">10kb":                           "2",
		"<10kb":                           "134567",
		">1kb kind:res":                   "2",
		">10KiB":                          "2",
		"->10b":                           "67",
		"text:wrong":                      "2",
		"text:WRONG":                      "",
		`text:"Wrong Wrong"`:              "2",
		"text:/Wrong\\b.*text/":           "",
		"text:/W(ro)+ng/":                 "2",
		"text:/wrong/i":                   "2",
		`text:/\/tmp\/s.c/`:               "4",
		`text:"/tmp"`:                     "4",
		"text:grüß":                       "1", // which the frame has escaped
		`text:"\"text\":"`:                "12",
		"-text:wrong":                     "134567",
		"text:wrong|oops":                 "26",
		"at:10:31":                        "1236",
		"at:10:31:00":                     "126",
		"at:10:31:00.120":                 "2",
		"at:10:31..10:32":                 "12346",
		"at:10:32..":                      "457",
		"at:..10:31":                      "1236",
		"at:10:33..10:31":                 "12356" + "7",
		"at:2026-11-22":                   "12345",
		"at:2026-11-23":                   "67",
		"at:2026-11-22T10:32":             "4",
		"at:2026-11-22T10:32..10:40":      "45",
		"at:2026-11-22T10:32..2026-11-23": "4567",
		"at:2026-11-23..":                 "67",
		"at:..2026-11-22T10:31:30":        "123",
		"status:error -kind:req echo":     "2",
		"dir:in -kind:res,bad -progress":  "4",
	} {
		if got := matching(t, j, filter.Options{}, expr); got != want {
			t.Errorf("%s selects %q, not %q", expr, got, want)
		}
	}
}

// What the journal itself finds out about an entry: marks, hops and traces.
func TestMarksHopsTraces(t *testing.T) {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	add := func(d journal.Dir, k journal.Kind, id, method, body string) {
		j.Append(journal.Entry{Server: "a", Conn: 1, Dir: d, Kind: k, ID: id, Method: method}, []byte(body))
	}
	add(journal.Out, journal.Request, "1", "ping", `{"id":1,"method":"ping","params":{"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}`)
	add(journal.Out, journal.Notification, "", "notifications/cancelled", `{"method":"notifications/cancelled","params":{"requestId":1}}`)
	add(journal.In, journal.Response, "1", "", `{"id":1,"result":{}}`)
	add(journal.In, journal.Response, "1", "", `{"id":1,"result":{}}`)
	add(journal.In, journal.Response, "99", "", `{"id":99,"result":{}}`)
	j.Append(journal.Entry{Server: "a", Hop: "router", Kind: journal.Span, Method: "route"}, []byte("{}"))
	for expr, want := range map[string]string{
		"status:late":          "3",
		"status:duplicate":     "4",
		"status:unasked,late":  "35",
		"-status:late,unasked": "1246",
		"status:cancelled":     "1",
		"status:canceled":      "1",
		"hop:router":           "6",
		"-hop:router":          "12345",
		"kind:span":            "6",
		"span":                 "6",
		"trace:4bf9":           "1234",
		"trace:4BF92f":         "1234",
		"trace:92f":            "",
		"trace:0e4736":         "1234",
	} {
		if got := matching(t, j, filter.Options{}, expr); got != want {
			t.Errorf("%s selects %q, not %q", expr, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	j := recorded(t)
	titles := filter.Options{Titles: map[string]string{"files": "My Disk"}}
	for expr, want := range map[string]string{"disk": "123467", "My -stderr": "12367", "server:disk": "123467", `"Connected My"`: "7"} {
		if got := matching(t, j, titles, expr); got != want {
			t.Errorf("with titles, %s selects %q, not %q", expr, got, want)
		}
	}
	texts := filter.Options{Text: func(_ *journal.Journal, e *journal.Entry) string { return strings.Repeat("x", int(e.Seq)) }}
	for expr, want := range map[string]string{"xxxxxx": "67", "echo": "", "-xx": "1", "xxx tool:echo": "", "xx tool:echo": "2"} {
		if got := matching(t, j, texts, expr); got != want {
			t.Errorf("of texts, %s selects %q, not %q", expr, got, want)
		}
	}
}

// An error says where it is and what was expected there.
func TestSyntaxErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"methd:x":                               "column 1: unknown key: methd; expected method, tool, ",
		"größe level:error":                     "column 7: unknown key: level",
		"a -status:okay":                        "column 11: unknown status: okay; expected ok, error, ",
		"status:":                               "column 8: expected ok, error",
		"status:ok,":                            "column 11: expected ok",
		"kind:req,foo":                          "column 10: unknown kind: foo; expected req, res",
		"dir:up":                                "column 5: unknown direction: up; expected in or out",
		"method:":                               "column 8: expected a text",
		`tool:"a b`:                             "column 6: expected a closing quote",
		`""`:                                    "column 1: there is nothing between the quotes",
		"text:/a":                               "column 6: expected a / at the end",
		"text://":                               "column 6: expected a regular expression",
		"text:/usr/bin":                         "column 11: expected a blank behind the regular expression; put",
		"text:/a(/":                             "column 7: not a regular expression: missing closing ): a(",
		"text:/((a{100}){100}){100}/":           "column 7: not a regular expression: ",
		">":                                     "column 2: expected a time such as",
		">100":                                  "column 5: expected a time such as",
		"x <3parsec":                            "column 5: expected a time such as",
		">1.2.3kb":                              "column 2: expected a time",
		"at:":                                   "column 4: expected a time such as",
		"at:..":                                 "column 4: expected a time",
		"at:10:31..noon":                        "column 11: expected a time",
		"at:25:00":                              "column 4: expected a time",
		"at:10:31..2026-11-22":                  "column 4: expected a day before this time",
		"at:2026-11-22..2026-11-21":             "column 16: expected a time after 2026-11-22",
		strings.Repeat("-a ", 100):              "column 193: too many conditions: 64 are the limit",
		"id:" + strings.Repeat("1,", 300) + "1": "column 516: too many values: 256 are the limit",
		strings.Repeat("a", 20_000):             "column 16385: the filter is too long",
		"text:/" + strings.Repeat("a", 2000) + "/": "column 6: the regular expression is too long",
	} {
		_, err := filter.Parse(expr)
		var bad *filter.SyntaxError
		switch {
		case !errors.As(err, &bad):
			t.Errorf("%.40q is not a syntax error: %v", expr, err)
		case !strings.HasPrefix(err.Error(), want):
			t.Errorf("%.40q: %q does not begin with %q", expr, err, want)
		}
	}
}

// A condition made from a value finds exactly that value.
func TestTerm(t *testing.T) {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	values := []string{"echo", "echo2", "a b", `say "hi"`, "a,b|c", "/etc", "=x", `back\slash`, `\"`, "größe", "-", "at:noon"}
	for _, v := range values {
		j.Append(journal.Entry{Kind: journal.Request, Tool: v, Method: v, Server: v, ID: v}, nil)
	}
	for _, key := range []string{"tool", "method", "server", "id"} {
		for i, v := range values {
			f, err := filter.Parse(filter.Term(key, v))
			if err != nil {
				t.Errorf("%s: %v", filter.Term(key, v), err)
				continue
			}
			for _, e := range j.Snapshot(0, nil) {
				if got := f.Match(j, &e); got != (int(e.Seq) == i+1) {
					t.Errorf("%s of %q: %v", filter.Term(key, v), e.Tool, got)
				}
			}
		}
	}
}

// A body that is gone has no text; a large one is searched to its end.
func TestBodiesGoneAndLarge(t *testing.T) {
	j := journal.New(journal.Options{Dir: "/nonexistent", Memory: 1000})
	defer j.Close()
	for range 20 {
		j.Append(journal.Entry{Kind: journal.Stderr}, bytes.Repeat([]byte("gone "), 100))
	}
	if _, err := j.Body(1); err == nil {
		t.Fatal("the body is still there")
	}
	e, _ := j.Get(1)
	for expr, want := range map[string]bool{"text:gone": false, "-text:gone": true, "text:/gone/": false, ">100b": true} {
		f, err := filter.Parse(expr)
		require.NoError(t, err)
		if got := f.Match(j, &e); got != want {
			t.Errorf("%s of a body that is gone: %v", expr, got)
		}
	}
	large := journal.New(journal.Options{Dir: t.TempDir()})
	defer large.Close()
	body := bytes.Repeat([]byte("0123456789"), 5_000_000)
	large.Append(journal.Entry{Kind: journal.Bad}, append(body, "Needle"...))
	e, _ = large.Get(1)
	for _, expr := range []string{"text:needle", "text:Needle", "text:/[N]eed+le$/", ">50mb"} {
		if f, err := filter.Parse(expr); err != nil || !f.Match(large, &e) {
			t.Errorf("%s does not find the end of 50 MB (%v)", expr, err)
		}
	}
}

// Nothing is allocated for an entry, but for what reads its body.
func TestMatchAllocatesNothing(t *testing.T) {
	j := recorded(t)
	f, err := filter.Parse(`echo "tools/call echo" tool:echo method:/call$/ kind:req,res status:ok,error >1ms at:10:31.. server:files -kb`)
	require.NoError(t, err)
	e, _ := j.Get(1)
	if !f.Match(j, &e) {
		t.Fatal("it does not pass")
	}
	if n := testing.AllocsPerRun(100, func() { f.Match(j, &e) }); n != 0 {
		t.Errorf("%v allocations for an entry", n)
	}
}

// Every condition that the manual shows is one, and every key is in it.
func TestManual(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, manual, _ := strings.Cut(string(b), "\n## The filter\n")
	manual, _, _ = strings.Cut(manual, "\n## ")
	shown := 0
	for line := range strings.Lines(manual) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ = strings.Cut(cell, "` |")
			if _, err := filter.Parse(cell); err != nil {
				t.Errorf("%s: %v", cell, err)
			}
			shown++
		}
	}
	for _, key := range []string{"method", "tool", "status", "kind", "dir", "server", "id", "text", "hop", "trace", "mark", "at"} {
		if !strings.Contains(manual, "| `"+key+":") {
			t.Errorf("the manual has no %s:", key)
		}
	}
	if shown < 18 {
		t.Errorf("%d conditions were found", shown)
	}
}
