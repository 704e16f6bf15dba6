package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/testdata/hostile"
)

var update = flag.Bool("update", false, "write the goldens again")

func rules() []*check.Rule {
	return []*check.Rule{
		{ID: "server/died", Severity: check.Error, Title: "the server died", Why: "calls are lost", Fix: "answer with an error", Source: "https://example.com/spec#died", Read: "2026-11-20"},
		{ID: "lint/no-title", Severity: check.Warning, Title: "has no title", Why: "clients show its name", Fix: "give it one", Source: "https://example.com/spec#title", Clients: []string{"Cursor"}},
		{ID: "lint/never", Severity: check.Info, Title: "never happens"},
		{ID: "safety/hidden", Severity: check.Error, Title: "has hidden characters", Why: "a model reads what nobody sees", Fix: "remove them"},
		{ID: "conform/ping", Severity: check.Error, Title: "does not answer a ping"},
	}
}

// sample has everything that a report can have.
func sample() *check.Report {
	tool := func(name, pointer string) check.Place {
		return check.Place{Kind: check.OfTool, Name: name, Pointer: pointer}
	}
	all := rules()
	r := &check.Report{
		Version: check.Version, Tool: check.Tool{Name: "mcphud", Version: "v1.2.3"}, Began: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC), Millis: 1234.5,
		Server: check.ServerReport{Name: "github", Title: "GitHub", Version: "2.0", Protocol: "2025-11-25", Transport: "stdio", Tools: 2, Prompts: 1},
		Sections: []check.SectionReport{
			{Name: "server", Title: "the server answers", Millis: 1},
			{Name: "lint", Title: "names and schemas", Millis: 2, Table: [][]string{{"WHAT", "N"}, {"tools", "2"}}, Notes: []string{"a note"}, Figures: json.RawMessage(`{"tools":2,"findings":null}`)},
			{Name: "safety", Title: "what harms", Millis: 3, Error: "the file of pins: cannot be read"},
			{Name: "conform", Title: "the rules of the protocol", Millis: 1000, Outcomes: []check.Outcome{
				{Rule: "conform/ping", Place: check.Place{Kind: check.OfServer}, Verdict: check.Passed, Millis: 12.5},
				{Rule: "conform/ping", Place: tool("echo", ""), Verdict: check.Skipped, Why: "it is not read-only"},
			}},
		},
		Findings: []check.Finding{
			{Rule: all[0], ID: all[0].ID, Severity: check.Error, Place: check.Place{Kind: check.OfServer}, Message: "in section fuzz: exit status 2", Evidence: "panic: oh\n\ngoroutine 1 [running]:", Fix: all[0].Fix, Sure: check.Certain, Fingerprint: "0000000000000001"},
			{Rule: all[1], ID: all[1].ID, Severity: check.Warning, Place: tool("echo", ""), Message: "its name is all that there is", Fix: all[1].Fix, Sure: check.Likely, Clients: []string{"Cursor"}, Fingerprint: "0000000000000002"},
			{Rule: all[1], ID: all[1].ID, Severity: check.Error, Place: tool("add", "/annotations"), Message: "the title {0} is [empty](x)", Evidence: `{"title":""}`, Fix: "call it Add", Sure: check.Certain, Repro: "mcphud tools show add -- node 'my server.js'", Fingerprint: "0000000000000003"},
			{Rule: all[1], ID: all[1].ID, Severity: check.Warning, Place: tool("old", ""), Message: "its name is all that there is", Sure: check.Certain, Fingerprint: "0000000000000004", Ignored: "goes away"},
			{Rule: all[3], ID: all[3].ID, Severity: check.Error, Place: tool("sly", "/description"), Message: "has \u202e and a \u200b", Evidence: "a\u202eb", Fix: all[3].Fix, Sure: check.Certain, Fingerprint: "0000000000000005", Ignored: check.InBaseline},
			{Rule: all[4], ID: all[4].ID, Severity: check.Error, Place: tool("slow", ""), Message: "no answer after 5s", Sure: check.Possible, File: ".mcphud/calls/slow.yaml", Line: 7, Fingerprint: "0000000000000006"},
		},
		Ignores: []check.Ignored{
			{Rule: "lint/no-title", Place: "old", Reason: "goes away", Until: "2027-01-01", Where: ".mcphud/check.yaml:3", Matched: 1},
			{Rule: "lint/never", Reason: "no more", Where: ".mcphud/check.yaml:6", State: check.Unused},
			{Rule: "lint/*", Place: "tool a*", Reason: "soon", Until: "2026-11-01", Where: ".mcphud/check.yaml:8", Matched: 1, State: check.Expired},
		},
		Baseline: &check.Baseline{File: "baseline.json", Known: 1, New: 4, Fixed: []check.Known{{Fingerprint: "0000000000000007", Rule: "lint/no-title", Severity: check.Warning, Place: "tool gone", Message: "its name is all that there is"}}},
	}
	r.Recount()
	return r
}

func options() report.Options {
	return report.Options{
		Rules: rules(), FailOn: check.Error, Artifact: report.NewArtifact("mcphud.lock", []byte("{\n  \"echo\": {},\n  \"add\": {}\n}\n")),
		Table: func(_ int, rows [][]string) string {
			var b strings.Builder
			for _, r := range rows {
				b.WriteString(strings.Join(r, "  ") + "\n")
			}
			return b.String()
		},
	}
}

func written(t *testing.T, format string, r *check.Report, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Write(&b, format, r, o))
	return b.String()
}

func TestGoldens(t *testing.T) {
	verbose := options()
	verbose.Verbose = true
	for name, got := range map[string]string{
		"report.txt":         written(t, report.Text, sample(), options()),
		"report-verbose.txt": written(t, report.Text, sample(), verbose),
		"report.json":        written(t, report.JSON, sample(), options()),
		"report.xml":         written(t, report.JUnit, sample(), options()),
		"report.sarif":       written(t, report.SARIF, sample(), options()),
		"report.md":          written(t, report.Markdown, sample(), options()),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equalf(t, got, string(want), "%s differs; see what changed, and run with -update", name)
	}
}

func compiled(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(path)
	require.NoError(t, err)
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, doc string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Fatalf("%v: %.500s", err, doc)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%.2000s", err, doc)
	}
}

// empty is a report of a server without findings; a made one may have no tool either.
func empty() *check.Report { return &check.Report{Version: check.Version} }

func TestValidAgainstTheirSchemas(t *testing.T) {
	sarif, own, junit := compiled(t, "testdata/sarif-schema-2.1.0.json"), compiled(t, "report.schema.json"), readXSD(t, "testdata/junit-10.xsd")
	cut := sample()
	cut.Interrupted = true
	for name, r := range map[string]*check.Report{"sample": sample(), "empty": empty(), "hostile": nasty(), "interrupted": cut} {
		t.Run(name, func(t *testing.T) {
			o := options()
			if name == "empty" {
				o = report.Options{}
			}
			valid(t, sarif, written(t, report.SARIF, r, o))
			valid(t, own, written(t, report.JSON, r, o))
			n, err := document(strings.NewReader(written(t, report.JUnit, r, o)))
			require.NoError(t, err)
			assert.NoError(t, junit.validate(n))
		})
	}
}

// What is documented is what is written, member by member.
func TestSchemaHasAllMembers(t *testing.T) {
	raw, err := os.ReadFile("report.schema.json")
	require.NoError(t, err)
	_, manual, _ := strings.Cut(check.README, "## The report as JSON")
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "-" || !typ.Field(i).IsExported() {
				continue
			}
			if !bytes.Contains(raw, []byte(`"`+name+`": {`)) {
				t.Errorf("the schema lacks %s of %s", name, typ)
			}
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(manual) {
				t.Errorf("the manual lacks %s of %s", name, typ)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[check.Report]())
}

// Several servers are one valid report, in which each has its own.
func TestWriteAll(t *testing.T) {
	all := []report.Of{{Report: sample(), Options: options()}, {Report: empty(), Options: options()}, {Report: nasty(), Options: options()}}
	written := func(format string) string {
		var b bytes.Buffer
		require.NoError(t, report.WriteAll(&b, format, all))
		return b.String()
	}
	valid(t, compiled(t, "testdata/sarif-schema-2.1.0.json"), written(report.SARIF))
	var body struct {
		Version int               `json:"version"`
		Reports []json.RawMessage `json:"reports"`
	}
	if err := json.Unmarshal([]byte(written(report.JSON)), &body); err != nil || body.Version != check.Version || len(body.Reports) != len(all) {
		t.Fatalf("%v, %d reports", err, len(body.Reports))
	}
	own := compiled(t, "report.schema.json")
	for _, r := range body.Reports {
		valid(t, own, string(r))
	}
	n, err := document(strings.NewReader(written(report.JUnit)))
	require.NoError(t, err)
	assert.NoError(t, readXSD(t, "testdata/junit-10.xsd").validate(n))
	if out := written(report.Markdown); !strings.Contains(out, "3 servers, 2 failed") || strings.Count(out, "| section |") != 3 || len(out) > 65536 {
		t.Errorf("%d bytes: %.500s", len(out), out)
	}
	assert.Contains(t, written(report.Text), "\n✗ github (GitHub) 2.0: 3 errors")
	all = slices.Repeat([]report.Of{{Report: many(300), Options: options()}}, 500) // a comment stays one
	if out := written(report.Markdown); len(out) > 65536 || !strings.Contains(out, "500 servers, 500 failed") || !strings.Contains(out, "servers are left out") {
		t.Errorf("%d bytes: %.500s", len(out), out)
	}
}

// The JSON is the report, nothing more or less.
func TestJSONIsTheReport(t *testing.T) {
	want := sample()
	var got check.Report
	require.NoError(t, json.Unmarshal([]byte(written(t, report.JSON, want, options())), &got))
	for i := range want.Findings {
		want.Findings[i].Rule = nil
	}
	for i := range want.Sections {
		want.Sections[i].Table, want.Sections[i].Notes = nil, nil
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, format := range report.Formats() { // one that was read can be written
		if !strings.Contains(written(t, format, &got, options()), "no answer after 5s") {
			t.Errorf("%s of a report that was read lacks a finding", format)
		}
	}
}

// nasty is a report of a server that says what does harm.
func nasty() *check.Report {
	r := sample()
	r.Findings = nil
	for i, h := range hostile.Strings() {
		s := text.Clip(h.Value, 2*check.MaxEvidence)
		f := check.Finding{
			Rule: rules()[i%5], ID: rules()[i%5].ID, Severity: check.Severity(i % 3), Place: check.Place{Kind: check.OfTool, Name: s, Pointer: s}, Message: s, Evidence: s, Fix: s, Sure: check.Certain,
			Clients: []string{s}, Repro: s, Fingerprint: fmt.Sprintf("%016x", i),
		}
		if i%7 == 0 && s != "" {
			f.Ignored = s
		}
		r.Findings = append(r.Findings, f)
		if i == 20 {
			r.Server.Name, r.Server.Title, r.Server.Version = s, s, s
			r.Sections[2].Error = s
			r.Baseline.Fixed[0].Message = s
		}
	}
	for i, s := range []string{"]]>\x00\x01\ufffe", "</failure></testcase>", "::error::x", "a\n::set-output name=x::y", "##[add-path]/tmp", "x ##vso[task.setvariable variable=y]z ##teamcity[z", "\xff\xfe", "</details><script>", "``` @everyone [x](http://y) | a", "`\n# heading"} {
		r.Findings = append(r.Findings, check.Finding{
			Rule: rules()[0], ID: "server/died", Severity: check.Error, Place: check.Place{Kind: check.OfTool, Name: s}, Message: s, Evidence: s, Fix: s, Sure: check.Certain, Repro: s,
			Fingerprint: fmt.Sprintf("%016x", 1000+i),
		})
	}
	r.Recount()
	return r
}

var known = regexp.MustCompile(`\[[a-z]+/[a-z-]+\]\(https://example\.com/spec#[a-z]+\)|</?(details|summary)>|&[a-z]+;|&#\d+;`)

// Nothing that a server says acts on a terminal, in the log of a CI system, or in a comment.
func TestHostile(t *testing.T) {
	verbose := options()
	verbose.Verbose = true
	for _, format := range []string{report.Text, report.Markdown} {
		out := written(t, format, nasty(), verbose)
		if why := hostile.Harm(out); why != "" && !strings.Contains(why, "marks") {
			t.Errorf("%s: %s", format, why)
		}
	}
	for _, format := range report.Formats() {
		for l := range strings.Lines(written(t, format, nasty(), verbose)) {
			if strings.HasPrefix(strings.TrimSpace(l), "::") || strings.Contains(l, "##[") || strings.Contains(l, "##vso[") || strings.Contains(l, "##teamcity[") {
				t.Errorf("%s has a command to a CI system: %q", format, l)
			}
		}
	}
	narrow := verbose // where lines are broken, and a table begins
	narrow.Width, narrow.Wrap = 40, func(s string, _ int) []string { return strings.Split(s, " ") }
	wide := sample()
	wide.Sections[1].Table, wide.Sections[1].Notes = [][]string{{"::error::x", "1"}}, []string{"a ::error::y"}
	for l := range strings.Lines(written(t, report.Text, wide, narrow)) {
		if strings.HasPrefix(strings.TrimSpace(l), "::") {
			t.Errorf("a line is a command to a CI system: %q", l)
		}
	}
	var back check.Report
	if err := json.Unmarshal([]byte(written(t, report.JSON, nasty(), verbose)), &back); err != nil || !slices.ContainsFunc(back.Findings, func(f check.Finding) bool { return f.Message == "x ##vso[task.setvariable variable=y]z ##teamcity[z" }) {
		t.Errorf("%v: the text of JSON is another one", err)
	}
	for l := range strings.Lines(written(t, report.Markdown, nasty(), options())) {
		rest := l
		for { // code spans away: each ends with as many backticks as it begins with
			start := strings.IndexByte(rest, '`')
			if start < 0 {
				break
			}
			n := len(rest[start:]) - len(strings.TrimLeft(rest[start:], "`"))
			end := -1
			for at := start + n; at < len(rest); {
				i := strings.IndexByte(rest[at:], '`')
				if i < 0 {
					break
				}
				at += i
				run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
				if run == n {
					end = at + run
					break
				}
				at += run
			}
			if end < 0 {
				t.Fatalf("a code span has no end: %q", l)
			}
			rest = rest[:start] + rest[end:]
		}
		if rest = known.ReplaceAllString(rest, ""); strings.ContainsAny(rest, "<>@[]`") || strings.Contains(rest, "http") {
			t.Errorf("outside of code: %q of %.300q", rest, l)
		}
	}
}

// A comment has a limit, and says what it leaves out.
func TestMarkdownIsBounded(t *testing.T) {
	r := many(5000)
	out := written(t, report.Markdown, r, options())
	if len(out) > 65536 || len(out) < 50000 {
		t.Errorf("%d bytes", len(out))
	}
	m := regexp.MustCompile(`\n(\d+) findings are left out`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("nothing on what is left out: …%s", out[len(out)-300:])
	}
	folded := out[strings.Index(out, "<details>"):]
	if shown := strings.Count(folded, "\n- `"); fmt.Sprint(5000-shown) != m[1] {
		t.Errorf("%d are shown, %s left out of 5000", shown, m[1])
	}
	assert.Equalf(t, strings.Count(out, "<details>"), strings.Count(out, "</details>"), "a fold has no end")
}

func many(n int) *check.Report {
	r := sample()
	r.Findings = nil
	for i := range n {
		rule := rules()[i%2]
		r.Findings = append(r.Findings, check.Finding{
			Rule: rule, ID: rule.ID, Severity: rule.Severity, Place: check.Place{Kind: check.OfTool, Name: fmt.Sprintf("tool_%d", i)}, Message: fmt.Sprintf("finding number %d", i),
			Evidence: "something", Fix: rule.Fix, Sure: check.Certain, Fingerprint: fmt.Sprintf("%016x", i),
		})
	}
	r.Recount()
	return r
}

// largest keeps how much was written at once.
type largest struct {
	io.Writer
	n int
}

func (l *largest) Write(b []byte) (int, error) {
	l.n = max(l.n, len(b))
	return l.Writer.Write(b)
}

// Of 100,000 findings none is lost, and no format has them all in memory before it writes.
func TestManyFindings(t *testing.T) {
	n := 20_000 // many times what is held at once
	switch {
	case budget.Race():
		n = 5000
	case budget.All():
		n = 100_000
	}
	r := many(n)
	r.Baseline = nil
	o := options()
	o.Verbose = true
	for format, each := range map[string]string{
		report.Text: ": finding number ", report.JSON: `"fingerprint":"`, report.JUnit: ": finding number ", report.SARIF: `"mcphud/v1":"`,
	} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			l := &largest{Writer: &out}
			require.NoError(t, report.Write(l, format, r, o))
			want := n
			switch format {
			case report.JUnit:
				want++ // the message of the rule that fails
				dec := xml.NewDecoder(bytes.NewReader(out.Bytes()))
				for err := error(nil); !errors.Is(err, io.EOF); _, err = dec.RawToken() {
					require.NoError(t, err)
				}
			case report.JSON, report.SARIF:
				if !json.Valid(out.Bytes()) {
					t.Error("it is not valid JSON")
				}
			}
			if got := strings.Count(out.String(), each); got != want {
				t.Errorf("%d of %d findings", got, want)
			}
			if l.n > 256<<10 {
				t.Errorf("%d bytes at once", l.n)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteFails(t *testing.T) {
	for _, format := range report.Formats() {
		if err := report.Write(full{}, format, sample(), options()); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", format, err)
		}
	}
	assert.ErrorContains(t, report.Write(io.Discard, "html", sample(), options()), "text, json, junit, sarif, markdown")
}

// What is wrapped is as wide as the screen allows, with its indentation, and follows below where it began.
func TestWidth(t *testing.T) {
	o := options()
	o.Width, o.Verbose = 60, true
	o.Wrap = func(s string, width int) (out []string) {
		for len(s) > width {
			out, s = append(out, s[:width]), s[width:]
		}
		return append(out, s)
	}
	widest, folded := 0, false
	for l := range strings.Lines(written(t, report.Text, sample(), o)) {
		l = strings.TrimRight(l, "\n")
		if strings.Contains(l, " | ") || strings.Contains(l, " $ ") || strings.Contains(l, "  N") {
			continue // as it is
		}
		widest = max(widest, utf8.RuneCountInString(l))
		folded = folded || strings.HasPrefix(l, strings.Repeat(" ", 6)) && !strings.HasPrefix(l, strings.Repeat(" ", 7))
	}
	if widest > 60+2 || widest < 58 || !folded { // marks are of several bytes
		t.Errorf("%d columns, below where it began: %v\n%s", widest, folded, written(t, report.Text, sample(), o))
	}
	o.Width = 20 // too narrow to be wrapped well
	assert.Contains(t, written(t, report.Text, sample(), o), "its name is all that there is")
}

// Nothing of a server begins a line of JUnit's texts: a CI system that sees the file obeys lines that begin with "::".
func TestJUnitLinesAreOurs(t *testing.T) {
	t.Parallel()
	r := &check.Report{Sections: []check.SectionReport{{Name: "lint"}}, Findings: []check.Finding{{
		ID: "lint/a", Severity: check.Error, Place: check.Place{Kind: check.OfTool, Name: "a\n::error::b"}, Message: "c\n::d", Evidence: "e\n::f", Fix: "g\n::h",
	}}}
	var b strings.Builder
	if err := report.Write(&b, report.JUnit, r, report.Options{FailOn: check.Error}); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "\n::") || !strings.Contains(s, "::error::b") {
		t.Error(s)
	}
}
