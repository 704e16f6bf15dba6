package card

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// hosts answers by URL without a network. A text is JSON as a card is sent; what begins with "->" redirects, with "<" is a web page.
type hosts map[string]string

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	text, ok := h[r.URL.String()]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(text, "->"):
		w.Header().Set("Location", text[2:])
		w.WriteHeader(http.StatusFound)
	case strings.HasPrefix(text, "<"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, text)
	case text == "401":
		w.WriteHeader(http.StatusUnauthorized)
	case text == "fails":
		return nil, fmt.Errorf("dial: refused")
	default:
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = io.WriteString(w, text)
	}
	return w.Result(), nil
}

func at(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}

const (
	place  = "https://mcp.example/v1/mcp"
	mine   = `{"$schema":"` + schema + `","name":"com.example/notes","title":"Notes","version":"1.2.0","description":"Keeps notes","remotes":[{"type":"streamable-http","url":"https://mcp.example/v1/mcp","supportedProtocolVersions":["2025-11-25","2026-07-28"]}]}`
	older  = `{"version":"1.0","protocolVersion":"2025-06-18","serverInfo":{"name":"notes","title":"Notes","version":"1.2.0"},"transport":{"type":"streamable-http","endpoint":"/v1/mcp"},"capabilities":{"tools":{"listChanged":true},"logging":false},"tools":["dynamic"],"prompts":[{"name":"p"}]}`
	simple = `{"name":"notes","description":"d","url":"https://mcp.example/v1/mcp","transport":"http","tools":["add","drop"]}`
)

func fetch(t *testing.T, h hosts) []Document {
	t.Helper()
	return Fetch(t.Context(), &http.Client{Transport: h}, at(t, place+"?key=x"))
}

// All places are asked, and what is there is read in its own shape.
func TestFetch(t *testing.T) {
	docs := fetch(t, hosts{
		place + "/server-card":                                 mine,
		"https://mcp.example/.well-known/mcp/server-card.json": older,
		"https://mcp.example/.well-known/mcp.json":             simple,
		"https://mcp.example/.well-known/ai-catalog.json": `{"specVersion":"1.0","entries":[
			{"identifier":"a","type":"` + mediaType + `","url":"` + place + `/server-card"},
			{"identifier":"b","type":"` + mediaType + `","url":"https://other.example/card"},
			{"identifier":"c","type":"` + mediaType + `","data":` + strings.Replace(mine, "com.example/notes", "inline", 1) + `},
			{"identifier":"d","type":"application/pdf","url":"https://other.example/pdf"},
			{"identifier":"e","type":"` + mediaType + `","url":"http://10.0.0.1/card"}]}`,
		"https://other.example/card": "->https://cdn.example/card",
		"https://cdn.example/card":   mine,
	})
	var got []string
	for _, d := range docs {
		got = append(got, fmt.Sprintf("%s %s %v %s %s %v", d.Kind, d.URL, d.Found, d.Name, d.Version, len(d.Problems)))
	}
	want := []string{
		"server card https://mcp.example/v1/mcp/server-card true com.example/notes 1.2.0 0",
		"well-known https://mcp.example/.well-known/mcp/server-card.json true notes 1.2.0 0",
		"well-known https://mcp.example/.well-known/mcp.json true notes  0",
		"catalog https://mcp.example/.well-known/ai-catalog.json true   0",
		"card of the catalog https://other.example/card true com.example/notes 1.2.0 0",
		"card of the catalog https://mcp.example/.well-known/ai-catalog.json#3 true inline 1.2.0 1",
		"card of the catalog http://10.0.0.1/card false   0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := docs[6].Err; err == nil || !strings.Contains(err.Error(), "not encrypted") && !strings.Contains(err.Error(), "this machine or its network") {
		t.Error(err)
	}
	if d := docs[1]; len(d.Remotes) != 1 || !d.About(at(t, place)) || d.Tools != nil || len(d.Prompts) != 1 || fmt.Sprint(d.Capabilities) != "[tools]" || fmt.Sprint(d.Protocols) != "[2025-06-18]" {
		t.Errorf("%+v", d.Claims)
	}
	if d := docs[2]; fmt.Sprint(d.Tools) != "[add drop]" || d.Remotes[0].Type != "streamable-http" {
		t.Errorf("%+v", d.Claims)
	}
}

// What a host sends instead of a document does no harm, and does not pass for one.
func TestHostileDocuments(t *testing.T) {
	near, err := url.Parse("https://10.1.2.3/mcp")
	require.NoError(t, err)
	for name, c := range map[string]struct{ text, err string }{
		"a web page":       {"<!doctype html><title>404</title>", ""},
		"too much":         {`{"name":"` + strings.Repeat("x", maxBody) + `"}`, "has more than"},
		"deep":             {`{"name":"n","x":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, "nested too deep"},
		"no JSON":          {"hello", "is not JSON"},
		"twice":            {`{"name":"a","name":"b"}`, "not JSON"},
		"a list":           {`[1]`, "not a JSON object"},
		"something else":   {`{"openapi":"3.1"}`, "is not about an MCP server"},
		"a login":          {"401", "wants a login"},
		"unreachable":      {"fails", "refused"},
		"to this machine":  {"->http://127.0.0.1:6379/", "a program of this machine or its network"},
		"to the network":   {"->https://192.168.0.1/", "a program of this machine or its network"},
		"to the cloud":     {"->http://169.254.169.254/latest/meta-data", "a program of this machine or its network"},
		"unencrypted":      {"->http://plain.example/", "not encrypted"},
		"a file":           {"->file:///etc/passwd", "not a plain http URL"},
		"with credentials": {"->https://me:hunter2@other.example/", "not a plain http URL"},
		"in a circle":      {"->" + place + "/server-card", "redirects more than 3 times"},
		"null":             {`{"name":null,"remotes":null}`, "not about an MCP server"},
		"of other types":   {`{"name":["a"],"remotes":{"a":1},"tools":7}`, "not about an MCP server"},
	} {
		t.Run(name, func(t *testing.T) {
			d := fetch(t, hosts{place + "/server-card": c.text})[0]
			if d.Found || c.err == "" && d.Err != nil || c.err != "" && (d.Err == nil || !strings.Contains(d.Err.Error(), c.err)) || strings.Contains(fmt.Sprint(d.Err), "hunter2") {
				t.Errorf("found %v: %v", d.Found, d.Err)
			}
		})
	}
	long := `{"name":"n","tools":[` + strings.Repeat(`"t",`, 100000) + `"t"],"title":"` + strings.Repeat("T", 5000) + `"}`
	if d := fetch(t, hosts{place + "/server-card": long})[0]; !d.Found || len(d.Tools) != maxList || len(d.Title) > maxText+10 {
		t.Errorf("%d tools, a title of %d", len(d.Tools), len(d.Title))
	}
	many := `{"entries":[` + strings.TrimRight(strings.Repeat(`{"type":"`+mediaType+`","url":"https://other.example/card"},`, 100), ",") + `]}`
	if docs := fetch(t, hosts{"https://mcp.example/.well-known/ai-catalog.json": many}); len(docs) != 4+maxEntries || docs[3].Entries != 100 {
		t.Errorf("%d documents", len(docs))
	}
	docs := Fetch(t.Context(), &http.Client{Transport: hosts{"https://10.1.2.3/mcp/server-card": "->https://10.9.9.9/card", "https://10.9.9.9/card": mine}}, near)
	if !docs[0].Found {
		t.Errorf("a server of this network may lead to another: %v", docs[0].Err)
	}
}

func TestStrict(t *testing.T) {
	for want, card := range map[string]string{
		"$schema is":                    strings.Replace(mine, "/v1/", "/2025-12-11/", 1),
		`name "notes" is not of`:        strings.Replace(mine, "com.example/notes", "notes", 1),
		"it has no version":             strings.Replace(mine, `"version":"1.2.0",`, "", 1),
		`version "^1.2.0" is a range`:   strings.Replace(mine, "1.2.0", "^1.2.0", 1),
		"it has no description":         strings.Replace(mine, `"description":"Keeps notes",`, "", 1),
		"description is longer":         strings.Replace(mine, "Keeps notes", strings.Repeat("x", 101), 1),
		"title is longer":               strings.Replace(mine, `"Notes"`, `"`+strings.Repeat("x", 101)+`"`, 1),
		"it lists tools":                strings.Replace(mine, `"title"`, `"tools":[],"title"`, 1),
		`a remote is of the type "ftp"`: strings.Replace(mine, "streamable-http", "ftp", 1),
		"is not an http URL":            strings.Replace(mine, "https://mcp.example/v1", "ftp://x", 1),
	} {
		d := fetch(t, hosts{place + "/server-card": card})[0]
		if len(d.Problems) != 1 || !strings.Contains(d.Problems[0], want) {
			t.Errorf("%q lacks %s: %v", d.Problems, want, d.Err)
		}
	}
}

// Only what both say, and say differently, is a difference.
func TestCompare(t *testing.T) {
	same := Said{
		URL: at(t, place), Transport: "http", Name: "notes", Title: "Notes", Version: "1.2.0", Protocol: "2025-11-25", Protocols: []string{"2025-11-25", "2026-07-28"},
		Capabilities: []string{"tools"}, Tools: []string{"add", "drop"}, Prompts: []string{"p"}, Resources: []string{"file:///a"},
	}
	for name, c := range map[string]struct {
		text   string
		change func(s *Said)
		want   string
	}{
		"the same":       {mine, func(*Said) {}, ""},
		"full name":      {mine, func(s *Said) { s.Name = "com.example/notes" }, ""},
		"older":          {older, func(s *Said) { s.Protocols, s.Protocol = nil, "2025-06-18" }, ""},
		"nothing known":  {older, func(s *Said) { *s = Said{URL: s.URL} }, ""},
		"name":           {mine, func(s *Said) { s.Name = "other" }, `name: the document says "com.example/notes", the server "other"`},
		"title":          {mine, func(s *Said) { s.Title = "Other" }, `title: the document says "Notes", the server "Other"`},
		"version":        {mine, func(s *Said) { s.Version = "1.3.0" }, `version: the document says "1.2.0", the server "1.3.0"`},
		"URL":            {mine, func(s *Said) { s.URL = at(t, "https://mcp.example/v2") }, `URL: the document says "https://mcp.example/v1/mcp", the server "https://mcp.example/v2"`},
		"transport":      {mine, func(s *Said) { s.Transport = "sse" }, `transport: the document says "streamable-http", the server "sse"`},
		"versions":       {mine, func(s *Said) { s.Protocols = []string{"2025-11-25"} }, `protocol versions: the document says also 2026-07-28, the server nothing more`},
		"spoken version": {mine, func(s *Said) { s.Protocols, s.Protocol = nil, "2024-11-05" }, `protocol versions: the document says "2025-11-25, 2026-07-28", the server "2024-11-05"`},
		"capabilities":   {older, func(s *Said) { s.Protocols, s.Protocol, s.Capabilities = nil, "", []string{"resources"} }, `capabilities: the document says also tools, the server also resources`},
		"tools":          {simple, func(s *Said) { s.Tools = []string{"add", "exec"} }, `tools: the document says also drop, the server also exec`},
		"template":       {strings.Replace(mine, "https://mcp.example/v1/mcp", "https://mcp.example/{tenant}/mcp", 1), func(*Said) {}, ""},
		"default port":   {strings.Replace(mine, "mcp.example/v1/mcp", "MCP.example:443/v1/mcp/", 1), func(*Said) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := fetch(t, hosts{place + "/server-card": c.text})[0]
			s := same
			c.change(&s)
			var got []string
			for _, x := range Compare(d, s) {
				got = append(got, x.String())
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("is   %s\nwant %s", strings.Join(got, "\n"), c.want)
			}
		})
	}
	if Compare(Document{}, same) != nil {
		t.Error("nothing differs from the server")
	}
}
