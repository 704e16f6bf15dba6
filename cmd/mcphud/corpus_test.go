package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/require"
)

// corpusEnv is "required" where the servers of testdata/corpus are examined, and "write" where what is found goes into the table: what was
// judged keeps its judgement, and what is new has "?" until somebody has looked at it. "write-lists" does that for the sections that only
// read lists, which takes seconds.
const corpusEnv = "MCPHUD_CORPUS"

const (
	corpusDir   = "../../testdata/corpus"
	corpusTable = corpusDir + "/findings.tsv"
	corpusHead  = "server\tseverity\trule\tcount\twhere\tjudgement\twhy"
)

// corpusServer is one server of others, and how it is started: by Node, without a network. $HOME is an empty folder.
type corpusServer struct {
	Name, Script string
	Args         []string
	Env          map[string]string
}

// judged is one row of the table: findings of a rule at a server, where they are (tools and the like, or the revision), and whether they are
// right.
type judged struct {
	server, severity, rule string
	count                  int
	where                  []string
	judgement, why         string
}

func (j judged) key() string { return strings.Join([]string{j.server, j.severity, j.rule}, "\t") }

func (j judged) String() string {
	return strings.Join([]string{j.key(), strconv.Itoa(j.count), strings.Join(j.where, ","), j.judgement, j.why}, "\t")
}

func corpusServers(t *testing.T) (all []corpusServer) {
	t.Helper()
	raw, err := os.ReadFile(corpusDir + "/servers.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &all))
	return all
}

func corpusJudged(t *testing.T) (all []judged) {
	t.Helper()
	raw, err := os.ReadFile(corpusTable)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if lines[0] != corpusHead {
		t.Fatalf("the head of %s is %q", corpusTable, lines[0])
	}
	for i, l := range lines[1:] {
		f := strings.Split(l, "\t")
		if len(f) != 7 {
			t.Fatalf("%s:%d has %d columns", corpusTable, i+2, len(f))
		}
		n, err := strconv.Atoi(f[3])
		if err != nil {
			t.Fatalf("%s:%d: %v", corpusTable, i+2, err)
		}
		all = append(all, judged{f[0], f[1], f[2], n, strings.Split(f[4], ","), f[5], f[6]})
	}
	return all
}

// The table is whole: each server is pinned and judged, and no error is wrong.
func TestCorpusIsJudged(t *testing.T) {
	pinned := map[string]string{} // versions
	for _, dir := range []string{corpusDir, "../../testdata/peers"} {
		raw, err := os.ReadFile(dir + "/package.json")
		require.NoError(t, err)
		var p struct{ Dependencies map[string]string }
		require.NoError(t, json.Unmarshal(raw, &p))
		maps.Copy(pinned, p.Dependencies)
	}
	rows := corpusJudged(t)
	servers := corpusServers(t)
	if len(servers) < 25 {
		t.Errorf("%d servers", len(servers))
	}
	known := map[string]bool{}
	for _, s := range servers {
		known[s.Name] = true
		_, name, _ := strings.Cut(s.Script, "node_modules/")
		words := strings.Split(name, "/")
		name = words[0]
		if strings.HasPrefix(name, "@") {
			name += "/" + words[1]
		}
		if v := pinned[name]; v == "" || strings.Trim(v, "0123456789.") != "" {
			t.Errorf("%s is not pinned: %q", name, v)
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		seen[r.server] = true
		switch {
		case !known[r.server]:
			t.Errorf("no server: %s", r)
		case r.judgement != "right" && r.judgement != "too severe" && r.judgement != "wrong":
			t.Errorf("not judged: %s", r)
		case r.why == "":
			t.Errorf("nothing says why: %s", r)
		case r.severity == check.Error.String() && r.judgement != "right":
			t.Errorf("an error that is %s is to be mended: %s", r.judgement, r)
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

// What the sections find at each server is what was judged.
func TestCorpus(t *testing.T) {
	mode := os.Getenv(corpusEnv)
	if mode == "" {
		t.Skip("it is for .ci/run corpus: " + corpusEnv + " is not set")
	}
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	for _, s := range corpusServers(t) {
		t.Run(s.Name, func(t *testing.T) {
			sections := []string{"lint", "safety", "cost", "conform"}
			if mode == "write-lists" {
				sections = sections[:3]
			}
			got, unknown := s.examine(t, node, sections)
			if len(sections) == 3 { // conform tries it
				got = slices.DeleteFunc(got, func(r judged) bool { return r.rule == "server/stdout-noise" })
			}
			table := corpusJudged(t)
			if mode == "required" {
				compareJudged(t, s.Name, table, got, unknown)
				return
			}
			lines := []string{}
			for _, r := range merged(table, got) {
				lines = append(lines, r.String())
			}
			for _, r := range table {
				if r.server != s.Name || strings.HasPrefix(r.rule, "conform/") && len(sections) == 3 {
					lines = append(lines, r.String())
				}
			}
			slices.Sort(lines)
			require.NoError(t, os.WriteFile(corpusTable, []byte(corpusHead+"\n"+strings.Join(lines, "\n")+"\n"), 0o644))
		})
	}
}

// examine checks a server that is alone with Node and a shell, and says what was found by rule, and of which rules nothing is known.
func (s corpusServer) examine(t *testing.T, node string, sections []string) (found []judged, unknown []string) {
	t.Helper()
	at, err := filepath.Abs(corpusDir)
	require.NoError(t, err)
	script := filepath.Join(at, s.Script)
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("%v; run testdata/corpus/install and testdata/peers/install", err)
	}
	home, programs := t.TempDir(), t.TempDir()
	for name, target := range map[string]string{"node": node, "sh": "/bin/sh"} {
		require.NoError(t, os.Symlink(target, filepath.Join(programs, name)))
	}
	args := slices.Concat([]string{"check"}, sections, []string{"--format", "json"})
	env := map[string]string{"HOME": home, "PATH": programs, "NODE_OPTIONS": "--require=" + filepath.Join(at, "offline.cjs")}
	for k, v := range s.Env {
		env[k] = strings.ReplaceAll(v, "$HOME", home)
	}
	for k, v := range env {
		args = append(args, "-e", k+"="+v)
	}
	args = append(args, "--", node, script)
	for _, a := range s.Args {
		args = append(args, strings.ReplaceAll(a, "$HOME", home))
	}
	cmd := command(t, args...)
	cmd.Dir = home
	o := finish(t, cmd)
	var rep check.Report
	if err := json.Unmarshal([]byte(o.out), &rep); err != nil {
		t.Fatalf("%v: exit %d, %.2000s%.2000s", err, o.code, o.out, o.stderr)
	}
	for _, sec := range rep.Sections {
		var f struct {
			Unknown []string `json:"unknown"`
		}
		if sec.Name == "conform" && json.Unmarshal(sec.Figures, &f) == nil {
			unknown = f.Unknown
		}
	}
	rows := map[string]*judged{}
	for _, f := range rep.Findings {
		where := f.Place.Name
		if f.Place.Kind != check.OfTool && (f.Place.Kind != check.OfServer || where == "") {
			where = strings.TrimSpace(f.Place.Kind + " " + where)
		}
		row := judged{server: s.Name, severity: f.Severity.String(), rule: f.ID}
		if rows[row.key()] == nil {
			rows[row.key()] = &row
		}
		r := rows[row.key()]
		if r.count++; !slices.Contains(r.where, where) {
			r.where = append(r.where, where)
		}
	}
	for _, r := range rows {
		slices.Sort(r.where)
		found = append(found, *r)
	}
	return found, unknown
}

// merged are the rows that were found, with what was said of them. Where something else is found than before, it has to be looked at.
func merged(table, found []judged) (out []judged) {
	for _, r := range found {
		r.judgement, r.why = "?", ""
		for _, old := range table {
			if old.key() == r.key() {
				r.why = old.why
				if slices.Equal(old.where, r.where) {
					r.judgement = old.judgement
				}
			}
		}
		out = append(out, r)
	}
	return out
}

// compareJudged says how what was found differs from what was judged. What is not found by a rule of which nothing is known this time, for
// an answer came late, is no difference.
func compareJudged(t *testing.T, server string, table, found []judged, unknown []string) {
	t.Helper()
	left := map[string]judged{}
	for _, r := range table {
		if r.server == server {
			left[r.key()] = r
		}
	}
	for _, r := range found {
		want, ok := left[r.key()]
		delete(left, r.key())
		switch {
		case !ok:
			t.Errorf("found, and not judged: %s", r)
		case r.count != want.count || !slices.Equal(r.where, want.where):
			t.Errorf("found %s\njudged %s", r, want)
		}
	}
	for _, r := range left {
		if slices.Contains(unknown, strings.TrimPrefix(r.rule, "conform/")) {
			t.Logf("nothing is known this time: %s", r)
			continue
		}
		t.Errorf("judged, and not found: %s", r)
	}
}
