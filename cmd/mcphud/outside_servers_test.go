package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/serve/chat"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func init() {
	for _, p := range agentsrv.Profiles() {
		outside["agent-"+string(p)+".txt"] = func(t *testing.T, _ string) string { return outsideAgent(t, p) }
	}
	outside["metrics.txt"] = outsideMetrics
}

// outsideLists are the lists of a server, with the commands that print them.
var outsideLists = []string{"tools list", "resources list", "resources templates", "prompts list"}

// outsideAgent is what an agent says of itself and lists, in the newest revision and where it differs in the one before: as it is
// without settings, and what is added or changed when all that have an influence are given.
func outsideAgent(t *testing.T, profile agentsrv.Profile) string {
	var b strings.Builder
	nowhere := "http://127.0.0.1:9"
	root := t.TempDir()
	full := agentsrv.Options{
		Profile: profile, Root: root, Batch: true, Model: chat.Model{URL: nowhere, Name: "m"},
		Router: agentclient.Options{RouterHost: "127.0.0.1", RouterPort: 9}, WebSocket: true, SSE: true,
	}
	settings := map[string]agentsrv.Options{"1, without settings": {Profile: profile}, "2, with root, model, router and batch": full}
	revisions := []string{"2026-07-28", "2025-11-25"}
	if profile == agentsrv.Hostile { // megabytes, and the same each time
		delete(settings, "2, with root, model, router and batch")
		revisions = revisions[:1]
	}
	before := map[string]outsideMembers{}
	for _, with := range slices.Sorted(maps.Keys(settings)) {
		url := agent(t, settings[with])
		for _, revision := range revisions {
			for _, list := range append([]string{"info"}, outsideLists...) {
				fmt.Fprintf(&b, "═══ mcphud %s, revision %s, %s\n", list, revision, with[3:])
				answer := mcphud(t, append(strings.Fields(list), "--format", "json", "--protocol", revision, "--url", url)...).ok(t)
				for _, item := range outsideItems(t, strings.ReplaceAll(answer, root, "ROOT")) {
					b.WriteString(item.line(before[list+item.name], profile == agentsrv.Hostile))
					before[list+item.name] = item.members
				}
			}
		}
	}
	return b.String()
}

// outsideMembers are those of a JSON object, each as it was sent.
type outsideMembers map[string]json.RawMessage

// outsideItem is one item of a list, or the list itself without its items.
type outsideItem struct {
	name    string
	members outsideMembers
	sent    string
}

// outsideItems are the items of a list, and what else the answer has. What depends on time and machine is left out by its name.
func outsideItems(t *testing.T, answer string) (items []outsideItem) {
	t.Helper()
	var all outsideMembers
	if err := json.Unmarshal([]byte(answer), &all); err != nil {
		t.Fatalf("%v: %.200s", err, answer)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var list []json.RawMessage
		if json.Unmarshal(all[key], &list) != nil {
			continue
		}
		delete(all, key)
		for i, raw := range list {
			var named struct{ Name string }
			_ = json.Unmarshal(raw, &named) // some are made to fail
			item := outsideItem{name: named.Name, sent: string(raw)}
			if json.Unmarshal(raw, &item.members) != nil || item.name == "" {
				item.name = fmt.Sprint("item ", i+1)
			}
			items = append(items, item)
		}
	}
	for _, key := range []string{"url", "latencyMs", "name"} {
		delete(all, key)
	}
	sent, err := json.Marshal(all)
	require.NoError(t, err)
	return append(items, outsideItem{name: "beside the items", members: all, sent: string(sent)})
}

// line is a line for an item: all of it, or what is not as it was before. What is made to break clients has its name, and a digest of the
// rest.
func (l outsideItem) line(before outsideMembers, hostile bool) string {
	if hostile {
		return fmt.Sprintf("%.60s, %d bytes, SHA-256 %x\n", fmt.Sprintf("%+q", l.name), len(l.sent), sha256.Sum256([]byte(l.sent)))
	}
	if before == nil {
		return l.name + " " + l.sent + "\n"
	}
	line := ""
	for _, key := range slices.Sorted(maps.Keys(l.members)) {
		if string(before[key]) != string(l.members[key]) {
			line += fmt.Sprintf(", %q:%s", key, l.members[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if l.members[key] == nil {
			line += ", without " + key
		}
	}
	return l.name + " as before" + line + "\n"
}

// outsideMetrics is the name of every metric of an agent, a router and status, with its kind, its labels and what it says.
func outsideMetrics(t *testing.T, _ string) string {
	var b strings.Builder
	nats := natsconn.Options{URL: natstest.Run(t).URL}
	url := agent(t, agentsrv.Options{Queue: nats})
	read := "resources read agentlet://system/code-helper" // the second time from a cache
	for _, args := range []string{"tools call echo message=hi", "tools call nothing-of-that-name", "tools call fail", read, read} {
		mcphud(t, append(strings.Fields(args), "--url", url)...)
	}
	b.WriteString("═══ /metrics of an agent\n" + scraped(t, strings.TrimSuffix(url, "/mcp")+"/metrics"))

	shared, err := cluster.Open(t.Context(), nats)
	require.NoError(t, err)
	t.Cleanup(shared.Close)
	file := filepath.Join(t.TempDir(), "routing.json")
	writeText(t, file, fmt.Sprintf(`{"routes":{"demo":{"url":%q}}}`, url))
	r, err := proxy.New(proxy.Options{Routes: file, Cluster: shared})
	require.NoError(t, err)
	require.NoError(t, r.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = r.Close(ctx)
	})
	mcphud(t, "tools", "list", "--url", r.URL()+"/mcps/demo/mcp").ok(t)
	b.WriteString("═══ /metrics of a router\n" + scraped(t, r.URL()+"/metrics"))

	b.WriteString("═══ mcphud status --metrics\n")
	m := stats.NewMetrics(stats.MetricsOptions{Journal: journal.New(journal.Options{}), Servers: func() []stats.MetricsServer { return nil }})
	defer m.Close()
	to := make(chan *prometheus.Desc, 100)
	m.Describe(to)
	close(to)
	for d := range to {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

var (
	sampleLine = regexp.MustCompile(`(?m)^([a-zA-Z_:]+)(?:\{(.*)\})? \S+$`)
	// ownOfClient are metrics of the process, as Prometheus' library has them for this system and this Go.
	ownOfClient = regexp.MustCompile(`^(# HELP |# TYPE |)(go|process)_`)

	labelName = regexp.MustCompile(`(\w+)="`)
)

// scraped is a page for Prometheus without values: what is said of each metric, and the labels of its samples.
func scraped(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, res.StatusCode, err)
	}
	labels, lines := map[string]map[string]bool{}, []string{}
	for line := range strings.Lines(string(page)) {
		m := sampleLine.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case ownOfClient.MatchString(line):
		case strings.HasPrefix(line, "# "):
			lines = append(lines, strings.TrimSpace(line))
		case m != nil:
			if labels[m[1]] == nil {
				labels[m[1]] = map[string]bool{}
				lines = append(lines, m[1])
			}
			for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
				labels[m[1]][l[1]] = true
			}
		default:
			t.Errorf("%s: %q is no sample", url, line)
		}
	}
	for i, line := range lines {
		if names, ok := labels[line]; ok {
			lines[i] += fmt.Sprint(" ", slices.Sorted(maps.Keys(names)))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
