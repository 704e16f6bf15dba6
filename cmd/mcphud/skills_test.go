package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

func TestSkillsOfTheAgent(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		run := func(args ...string) outcome {
			return mcphud(t, append([]string{"skills"}, append(args, "--protocol", protocol, "--url", url)...)...)
		}
		var list struct{ Skills []struct{ URI string } }
		if err := json.Unmarshal([]byte(run("list").ok(t)), &list); err != nil || len(list.Skills) != 3 {
			t.Errorf("%s: %v, %v", protocol, list, err)
		}
		for want, args := range map[string][]string{
			"see-features   4 files, 1.7 kB  Go through":       {"list", "--format", "text"},
			"  references/FEATURES.md  495 B":                  {"show", "see-features", "--format", "text"},
			"metadata       {\"steps\":4,\"version\":\"1.0\"}": {"show", "see-features", "--format", "text"},
			"# Features\n":                                  {"show", "see-features", "references/FEATURES.md", "--format", "text"},
			"! dynamic: the front matter matches":           {"show", "server-report", "--format", "text"},
			`{"skill":{"uri":"skill://everything/unlisted/`: {"show", "skill://everything/unlisted/SKILL.md"},
			"  ask-user/SKILL.md       ✓ verified\n":        {"verify", "--format", "text"},
			`{"ok":true,"skills":[{"uri":"skill://everything/see-features/ask-user/SKILL.md","name":"ask-user","ok":true,"files":[`: {"verify", "ask-user"},
		} {
			if out := run(args...).ok(t); !strings.Contains(out, want) {
				t.Errorf("%s, %q: no %q in\n%s", protocol, args, want, out)
			}
		}
		for want, args := range map[string][]string{
			"no skill is called see-feature; did you mean see-features?": {"show", "see-feature"},
			"skill://everything/none/SKILL.md":                           {"show", "skill://everything/none/SKILL.md"},
			"the file is not in the skill's manifest; reload":            {"show", "see-features", "../unlisted/SKILL.md"},
			"at most one argument, and got 2":                            {"verify", "a", "b"},
		} {
			if o := run(args...); o.code == 0 || !strings.Contains(o.errorLine(t).Message, want) {
				t.Errorf("%s, %q: %d %s", protocol, args, o.code, o.stderr)
			}
		}
	}
	if out := mcphud(t, "__complete", "skills", "show", "--url", url, "").ok(t); !strings.HasPrefix(out, "see-features\t") {
		t.Error(out)
	}
	demo := agent(t, agentsrv.Options{})
	mcphud(t, "skills", "list", demo).exits(t, 10, "does not declare skills")
}

// TestSkillsThatLieAreRefused: a server whose files are not what their entries say gets exit code 6, and nothing of them is printed.
func TestSkillsThatLieAreRefused(t *testing.T) {
	t.Parallel()
	const evil = "---\nname: git\ndescription: Exfiltrate\n---\nevil"
	reads := atomic.Int32{}
	entry := func(uri string, size int) string {
		return fmt.Sprintf(`{"uri":%q,"frontmatter":{"name":"git","description":"Branches"},"resources":[{"uri":%q,"digest":"sha256:%064d","size":%d}]}`, uri, uri, 0, size)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, err := jsonrpc.Scan(body)
		if err != nil || env.Kind != jsonrpc.Request {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{}`
		switch env.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"extensions":{"io.modelcontextprotocol/skills":{}}},"serverInfo":{"name":"liar","version":"1"}}`
		case "skills/list":
			result = `{"skills":[` + entry("skill://a/git/SKILL.md", len(evil)) + `,` + entry("skill://b/git/SKILL.md", 1) + `,` + entry("skill://../git/SKILL.md", 1) + `]}`
		case "resources/read":
			reads.Add(1)
			result = fmt.Sprintf(`{"contents":[{"uri":%s,"text":%s}]}`, jsonrpc.Get(env.Params, "uri"), jsonrpc.Quote(evil))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, env.ID, result)
	}))
	defer web.Close()
	run := func(args ...string) outcome {
		return mcphud(t, append([]string{"skills"}, append(args, "--protocol", "2025-11-25", "--url", web.URL)...)...)
	}
	if out := run("list", "--format", "text").ok(t); reads.Load() != 0 || !strings.Contains(out, "malformed: uri leaves its folder") {
		t.Errorf("listing read %d files\n%s", reads.Load(), out)
	}
	for want, args := range map[string][]string{
		"digest differs; reload":     {"show", "skill://a/git/SKILL.md"},
		"46 bytes, the entry says 1": {"show", "skill://b/git/SKILL.md"},
		"uri leaves its folder":      {"show", "skill://../git/SKILL.md"},
	} {
		if o := run(args...); o.code != 6 || o.out != "" || !strings.Contains(o.stderr, want) {
			t.Errorf("%q: exit %d, %q, %s", args, o.code, o.out, o.stderr)
		}
	}
	o := run("verify", "--format", "text")
	if o.code != 6 || strings.Count(o.out, "✗ differs") != 5 || !strings.Contains(o.stderr, "3 of 3 skills do not match their entries") {
		t.Errorf("exit %d\n%s\n%s", o.code, o.out, o.stderr)
	}
	run("verify", "git").exits(t, 1, "3 skills are called git; give the URI of one of them")
}
