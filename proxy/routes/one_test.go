package routes

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
)

// A route that is registered has its name inside, and nobody to be warned of what is not known in it.
func TestG1_OneRoute(t *testing.T) {
	r, err := ParseOne([]byte("\n" + `{"name":"files","command":"npx","args":["-y","x"],"env":{"A":"1"},"cwd":"/","timeout":"5s"}`))
	if err != nil || r.Name != "files" || r.Command != "npx" || len(r.Args) != 2 || r.Env["A"] != "1" || r.Timeout != 5*time.Second || r.Session != PerSession {
		t.Fatalf("%+v, %v", r, err)
	}
	for text, says := range map[string]string{
		"": "not valid JSON", "[]": "it is a list", `{"hostPort":1}`: "has no name", `{"name":null,"hostPort":1}`: "name is null",
		`{"name":"-","hostPort":1}`: "is not a valid agent name", `{"name":"a"}`: "has no upstream", "{\"name\":\"a\",\n\"hostPort\":1,\"x\":1}": "line 2, column 18: server.x is unknown",
		`{"name":"a","name":"b","hostPort":1}`: "twice", `{"name":"a","command":"x","cwd":"y"}`: "absolute", "\xff": "UTF-8",
	} {
		if r, err := ParseOne([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}

func FuzzParseOne(f *testing.F) {
	for _, s := range []string{`{"name":"a","hostPort":1}`, `{"name":"a","url":"http://x/","headers":{"A":"b"}}`, `{"name":`, `{"name":"a","command":"x","fault":{"delay":"1s"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseOne([]byte(s)); err == nil && (!config.ValidName(r.Name) || r.Endpoint() == nil && r.Command == "") {
			t.Errorf("%q is %+v", s, r)
		}
	})
}

// What was registered is beside what the file has, and never in its place.
func TestG1_TablesAreMerged(t *testing.T) {
	file := &Table{Port: 7, Routes: map[string]*Route{"a": {Name: "a"}}}
	more := map[string]*Route{"a": {Name: "other"}, "b": {Name: "b"}}
	both := file.With(more)
	if both.Routes["a"].Name != "a" || both.Routes["b"].Name != "b" || both.Port != 7 || len(file.Routes) != 1 || more["a"].Name != "other" {
		t.Errorf("%+v %+v %+v", both, file, more)
	}
	if file.With(nil) != file {
		t.Error("a copy for nothing")
	}
}
