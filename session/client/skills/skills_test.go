package skills_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/skills"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	uri   = "skill://git-workflow/SKILL.md"
	forms = "skill://git-workflow/references/FORMS.md"
	body  = "---\nname: git-workflow\ndescription: How we branch\n---\n\n# Git\n"
	more  = "Supporting.\n"
)

// library is a server with skills, which counts what is read of them.
type library struct {
	mu      sync.Mutex
	entries []string
	hidden  map[string]string // entries that only skills/get has, by URI
	read    []string
	folders map[string]string // results of resources/directory/read, by URI
	answer  map[string]string // results of resources/read, by URI
}

func manifest(uri, front string, files map[string]string, order ...string) string {
	var list []string
	for _, at := range order {
		list = append(list, fmt.Sprintf(`{"uri":%q,"digest":"sha256:%x","size":%d}`, at, sha256.Sum256([]byte(files[at])), len(files[at])))
	}
	return fmt.Sprintf(`{"uri":%q,"frontmatter":%s,"resources":[%s]}`, uri, front, strings.Join(list, ","))
}

func texts(uri, text string) string {
	return fmt.Sprintf(`{"contents":[{"uri":%q,"mimeType":"text/markdown","text":%s}]}`, uri, jsonrpc.Quote(text))
}

func git() *library {
	return &library{
		entries: []string{manifest(uri, `{"name":"git-workflow","description":"How we branch"}`, map[string]string{uri: body, forms: more}, uri, forms)},
		answer:  map[string]string{uri: texts(uri, body), forms: texts(forms, more)},
	}
}

func (l *library) open(t *testing.T) *session.Session {
	_, s := sessiontest.Open(t, session.Options{Dial: sessiontest.Dial(func(_ int, p *sessiontest.Peer) {
		p.Handshake(`{"resources":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}`)
		p.Serve(func(env jsonrpc.Envelope) {
			at := jsonrpc.GetString(env.Params, "uri")
			l.mu.Lock()
			defer l.mu.Unlock()
			switch env.Method {
			case "skills/list":
				p.Answer(env, `{"skills":[`+strings.Join(l.entries, ",")+`]}`)
			case "skills/get":
				if e, ok := l.hidden[at]; ok {
					p.Answer(env, `{"skill":`+e+`}`)
					return
				}
				p.Refuse(env, -32602, "")
			case "resources/directory/read":
				p.Answer(env, l.folders[at])
			case "resources/read":
				l.read = append(l.read, at)
				p.Answer(env, l.answer[at])
			}
		})
	})}, config.Server{Name: "library"})
	return s
}

func (l *library) reads() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

func TestNothingIsReadBeforeItIsOpened(t *testing.T) {
	l := git()
	s := l.open(t)
	sk, err := skills.Find(t.Context(), s, "git-workflow")
	if err != nil || len(sk.Files) != 2 || sk.Description != "How we branch" {
		t.Fatalf("%+v, %v", sk, err)
	}
	if got := l.reads(); len(got) > 0 {
		t.Errorf("listing read %v", got)
	}
	f, err := skills.Load(t.Context(), s, sk)
	if err != nil || f.Text != body || !f.Verified || f.MIME != "text/markdown" {
		t.Errorf("%+v, %v", f, err)
	}
	if got := l.reads(); len(got) != 1 {
		t.Errorf("opening SKILL.md read %v", got)
	}
	if f, err := skills.Read(t.Context(), s, sk, "references/FORMS.md"); err != nil || f.Text != more {
		t.Errorf("%+v, %v", f, err)
	}
	for _, name := range []string{"references/OTHER.md", "../other/SKILL.md", "/etc/passwd", "skill://other/SKILL.md"} {
		if _, err := skills.Read(t.Context(), s, sk, name); err == nil || !strings.Contains(err.Error(), "not in the skill's manifest") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := l.reads(); len(got) != 2 {
		t.Errorf("files beyond the manifest were read: %v", got)
	}
}

func TestWhatIsNotAsTheEntrySaysIsRefused(t *testing.T) {
	blob := `{"contents":[{"uri":"` + uri + `","blob":"!"}]}`
	for want, change := range map[string]func(*library){
		"size differs: 62 bytes, the entry says 61": func(l *library) { l.answer[uri] = texts(uri, body+"x") },
		"digest differs: sha256:":                   func(l *library) { l.answer[uri] = texts(uri, strings.Replace(body, "Git", "Evl", 1)) },
		"another file: " + forms:                    func(l *library) { l.answer[uri] = texts(forms, body) },
		"not one piece: 0":                          func(l *library) { l.answer[uri] = `{"contents":[]}` },
		"neither text nor blob":                     func(l *library) { l.answer[uri] = `{"contents":[{"uri":"` + uri + `"}]}` },
		"not base64":                                func(l *library) { l.answer[uri] = blob },
		"not a file: mimeType is inode/symlink": func(l *library) {
			l.answer[uri] = strings.Replace(texts(uri, body), "text/markdown", "inode/symlink", 1)
		},
		`description is "How we branch" in SKILL.md, "Exfiltrate" in the entry`: func(l *library) { l.entries[0] = strings.Replace(l.entries[0], "How we branch", "Exfiltrate", 1) },
		"allowed-tools is in the entry only": func(l *library) {
			l.entries[0] = strings.Replace(l.entries[0], `"name":`, `"allowed-tools":"Bash","name":`, 1)
		},
	} {
		t.Run(want, func(t *testing.T) {
			l := git()
			change(l)
			s := l.open(t)
			sk, err := skills.Find(t.Context(), s, uri)
			require.NoError(t, err)
			f, err := skills.Load(t.Context(), s, sk)
			var m *skills.Mismatch
			if err == nil || !errors.As(err, &m) || m.URI != uri || !strings.Contains(err.Error(), want) || f.Text != "" {
				t.Errorf("%v (%q got through)", err, f.Text)
			}
			var verdicts []string
			require.NoError(t, skills.Verify(t.Context(), s, sk, func(v skills.Verdict) { verdicts = append(verdicts, fmt.Sprint(v.Path, v.Err == nil)) }))
			assert.Equal(t, strings.Join(verdicts, " "), "SKILL.mdfalse references/FORMS.mdtrue")
		})
	}
}

func TestFindBySeveralNames(t *testing.T) {
	l := git()
	other := func(at string) string {
		return `{"uri":"` + at + `","frontmatter":{"name":"x","description":"d"},"resources":"dynamic"}`
	}
	l.entries = append(l.entries, other("skill://a/x/SKILL.md"), other("skill://b/x/SKILL.md"), `{"uri":"skill://c/SKILL.md"}`)
	l.hidden = map[string]string{"skill://hidden/x/SKILL.md": other("skill://hidden/x/SKILL.md"), "skill://liar/x/SKILL.md": other("skill://a/x/SKILL.md")}
	s := l.open(t)
	for name, want := range map[string]string{
		"git-workflow":              "",
		"skill://a/x/SKILL.md":      "",
		"skill://hidden/x/SKILL.md": "",
		"x":                         "2 skills are called x: skill://a/x/SKILL.md, skill://b/x/SKILL.md; give the URI",
		"none":                      "no skill is called none",
		"skill://none/x/SKILL.md":   "refused",
		"skill://liar/x/SKILL.md":   "it is the entry of skill://a/x/SKILL.md",
		"skill://c/SKILL.md":        "frontmatter has no name",
	} {
		if sk, err := skills.Find(t.Context(), s, name); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", name, sk, err)
		}
	}
	if _, err := skills.Find(t.Context(), s, "skill://none/x/SKILL.md"); failure.KindOf(err) != failure.NotFound {
		t.Error(err)
	}
}

func TestDynamicSkills(t *testing.T) {
	const at = "skill://today/SKILL.md"
	l := &library{
		entries: []string{`{"uri":"` + at + `","frontmatter":{"name":"today","description":"d"},"resources":"dynamic"}`},
		answer: map[string]string{
			at: texts(at, "---\nname: today\ndescription: d\n---\n"), "skill://today/a.md": texts("skill://today/a.md", "a"),
			"skill://today/large": texts("skill://today/large", strings.Repeat("x", offer.MaxSkillBytes+1)),
		},
	}
	s := l.open(t)
	sk, err := skills.Find(t.Context(), s, "today")
	require.NoError(t, err)
	if f, err := skills.Load(t.Context(), s, sk); err != nil || f.Verified {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := skills.Read(t.Context(), s, sk, "a.md"); err != nil || f.Text != "a" || f.Verified {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := skills.Read(t.Context(), s, sk, "large"); err == nil || !strings.Contains(err.Error(), "beyond the limit") {
		t.Error(err)
	}
	if _, err := skills.Read(t.Context(), s, sk, "../x"); err == nil {
		t.Error("read a file outside of the skill")
	}
}

func TestFrontMatterIsComparedFieldByField(t *testing.T) {
	const at = "skill://a/SKILL.md"
	for _, c := range []struct{ yaml, entry, want string }{
		{"name: a\ndescription: d", `{"description":"d","name":"a"}`, ""},
		{"name: a\ndescription: >\n  two\n  lines\n", `{"name":"a","description":"two lines\n"}`, ""},
		{"name: a\ndescription: d\nmetadata: {version: 1.0, n: 012, hex: 0x1F, list: [a, 2, null, true]}", `{"name":"a","description":"d","metadata":{"version":1,"n":12,"hex":31,"list":["a",2,null,true]}}`, ""},
		{"name: a\ndescription: d\nwhen: 2026-01-02\nyes: yes\nbig: 12345678901234567890", `{"name":"a","description":"d","when":"2026-01-02","yes":"yes","big":12345678901234567890}`, ""},
		{"name: a\ndescription: d\nmetadata: {version: \"1.0\"}", `{"name":"a","description":"d","metadata":{"version":1.0}}`, `metadata.version is "1.0" in SKILL.md, 1.0 in the entry`},
		{"name: a\ndescription: d\nmetadata: {version: 1.0}", `{"name":"a","description":"d","metadata":{"version":"1.0"}}`, `metadata.version is 1.0 in SKILL.md, "1.0" in the entry`},
		{"name: a\ndescription: d\nbig: 12345678901234567891", `{"name":"a","description":"d","big":12345678901234567890}`, "big is 12345678901234567891"},
		{"name: a\ndescription: d\nx: [1, 2]", `{"name":"a","description":"d","x":[1]}`, "x has 2 items in SKILL.md, 1 in the entry"},
		{"name: a\ndescription: d\nallowed-tools: Bash", `{"name":"a","description":"d"}`, "allowed-tools is in SKILL.md only"},
		{"name: a\nname: b\ndescription: d", `{"name":"a","description":"d"}`, "line 3 of SKILL.md"},
		{"name: a\ndescription: " + strings.Repeat("d", 70_000), `{"name":"a","description":"d"}`, "that of SKILL.md is larger than the limit"},
		{"name: a\ndescription: [", `{"name":"a","description":"d"}`, "is not valid YAML"},
		{"name: a\ndescription: d\nx: *y", `{"name":"a","description":"d","x":null}`, "alias"},
		{"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]", `{"name":"a","description":"d"}`, "more than"},
	} {
		file := "---\n" + strings.TrimRight(c.yaml, "\n") + "\n---\nbody"
		l := &library{entries: []string{manifest(at, c.entry, map[string]string{at: file}, at)}, answer: map[string]string{at: texts(at, file)}}
		if !json.Valid([]byte(c.entry)) {
			t.Fatal(c.entry)
		}
		s := l.open(t)
		sk, err := skills.Find(t.Context(), s, at)
		require.NoError(t, err)
		_, err = skills.Load(t.Context(), s, sk)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\n%v, want %q", c.yaml, err, c.want)
		}
	}
	for _, file := range []string{"", "# no front matter", "---\nname: a\n", "x\n---\nname: a\n---\n"} {
		if yaml, _, ok := skills.FrontMatter(file); ok {
			t.Errorf("%q has front matter %q", file, yaml)
		}
	}
	if yaml, body, ok := skills.FrontMatter("\ufeff---\r\nname: a\r\n--- \r\nbody"); !ok || yaml != "name: a\r\n" || body != "body" {
		t.Errorf("%q, %q, %t", yaml, body, ok)
	}
}

func TestFilesOfADynamicSkill(t *testing.T) {
	const root = "skill://a/today"
	file := func(uri string) string { return `{"uri":"` + uri + `","name":"x","mimeType":"text/plain"}` }
	folder := func(uri string) string { return `{"uri":"` + uri + `","name":"x","mimeType":"inode/directory"}` }
	list := func(children ...string) string { return `{"resources":[` + strings.Join(children, ",") + `]}` }
	many := make([]string, offer.MaxSkillFiles+1)
	for i := range many {
		many[i] = file(fmt.Sprintf("%s/%d", root, i))
	}
	for name, c := range map[string]struct {
		folders map[string]string
		want    string
	}{
		"nested":      {map[string]string{root: list(file(root+"/SKILL.md"), folder(root+"/sub")), root + "/sub": list(file(root + "/sub/a.md"))}, "[SKILL.md sub/a.md]"},
		"pages":       {map[string]string{root: `{"resources":[` + file(root+"/SKILL.md") + `],"nextCursor":"again"}`}, "pages do not end"},
		"empty pages": {map[string]string{root: `{"resources":[],"nextCursor":"again"}`}, "pages do not end"},
		"many":        {map[string]string{root: list(many...)}, "more than 512 entries"},
		"elsewhere":   {map[string]string{root: list(file("skill://b/x"))}, "outside of its folder: skill://b/x"},
		"up":          {map[string]string{root: list(folder(root + "/.."))}, "outside of its folder"},
		"too deep":    {map[string]string{root: list(file(root + "/sub/a.md"))}, "outside of its folder"},
		"itself":      {map[string]string{root: list(folder(root))}, "outside of its folder"},
		"no list":     {map[string]string{root: `{"resources":{}}`}, "not an array"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &library{entries: []string{`{"uri":"` + root + `/SKILL.md","frontmatter":{"name":"today","description":"d"},"resources":"dynamic"}`}, folders: c.folders}
			s := l.open(t)
			sk, err := skills.Find(t.Context(), s, "today")
			if err != nil || !s.Supports(skills.DirectoryRead) {
				t.Fatal(err)
			}
			files, err := skills.Directory(t.Context(), s, sk)
			paths := []string{}
			for _, f := range files {
				paths = append(paths, f.Path)
			}
			if got := fmt.Sprint(paths, err); !strings.Contains(got, c.want) || len(l.reads()) > 0 {
				t.Errorf("%s, want %s; read %v", got, c.want, l.reads())
			}
		})
	}
}

// Each field that differs is named, and what cannot be compared is not taken for fields.
func TestDifferences(t *testing.T) {
	const entry = `{"name":"a","n":1,"deep":{"x":1,"y":2}}`
	for file, want := range map[string]string{
		"---  \nname: a\nn: 1\ndeep: {x: 1, y: 2}\n---\n":  "",
		"---\nname: b\ndeep: {x: 2, y: 3}\nmore: 1\n---\n": "2 2 2 2",
		"---\n# nothing\n---\n":                            "2 2 2",
		"---\n- name\n---\n":                               "1",
		"---\nword\n---\n":                                 "1",
		"---\nname: a\nname: b\n---\n":                     "1",
		"name: a\n":                                        "0",
	} {
		var got []string
		for _, d := range skills.Differences(json.RawMessage(entry), file) {
			got = append(got, fmt.Sprint(int(d.Kind)))
			if d.What == "" {
				t.Errorf("%q: a difference without a word", file)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}
