package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/pgtest"
)

// The official suite passes against an agent whose calls go through NATS and whose data is in PostgreSQL, through two routers behind a
// balancer, as it does against an agent by itself.
func TestBackendConformance_ThroughReplicas(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		if revision.Name < "2026-07-28" && !budget.Nightly() { // two agents pass all checks of it below
			continue
		}
		t.Run(revision.Name, func(t *testing.T) {
			conformsTo(t, revision, nil, serveAgent(t, "--profile", "everything", "--store", pgtest.Run(t), "--queue", installedNATS(t, ""), "--name", "suite"))
		})
	}
}

// It passes against two agents as well, which share a database or also a queue. The tools by which it changes a list do so in one process,
// so the checks of what others then say are left out.
func TestBackendConformance_OfTwoAgents(t *testing.T) {
	ofOneProcess := []string{
		"sep-2575-server-sends-tools-list-changed-on-subscription", "sep-2575-server-sends-prompts-list-changed-on-subscription",
		"tools-list-deterministic-order",
	}
	for _, revision := range peertest.Revisions() {
		t.Run(revision.Name, func(t *testing.T) {
			args := []string{"--profile", "everything", "--name", "suite", "--store", pgtest.Run(t)}
			if budget.Nightly() { // with a queue as well the store is the same
				t.Run("store", func(t *testing.T) {
					conformsTo(t, revision, ofOneProcess, serveAgent(t, args...), serveAgent(t, args...))
				})
			}
			args = append(args, "--queue", installedNATS(t, ""))
			t.Run("queue", func(t *testing.T) {
				conformsTo(t, revision, ofOneProcess, serveAgent(t, args...), serveAgent(t, args...))
			})
		})
	}
}

// conformsTo runs the suite through two routers and a balancer, but for the checks named.
func conformsTo(t *testing.T, revision peertest.Revision, not []string, agents ...*served) {
	t.Helper()
	var urls []string
	for _, a := range agents {
		urls = append(urls, fmt.Sprintf("%q", a.url))
	}
	r := routers(t, `{"a":{"urls":[`+strings.Join(urls, ",")+`],"stream":true}}`)
	revision.Run(t, r.balancer()+"/mcps/a/mcp", not...)
}
