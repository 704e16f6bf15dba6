package lint_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// The SDK itself refuses what the rules say that it refuses, and nothing else of their cases.
func TestPeerSDKRefuses(t *testing.T) {
	s, _ := lint.New(lint.Options{})
	claims := map[string]bool{}
	for _, r := range s.Rules() {
		claims[r.ID] = slices.Contains(r.Clients, "typescript-sdk")
	}
	for _, only := range []string{
		"lint/name-edge",      // it warns
		"lint/header-invalid", // it is for clients of revision 2026-07-28, which version 1 is not
	} {
		claims[only] = false
	}
	var answers []peertest.Answer
	var of []ruleCase
	add := func(c ruleCase, doc string) {
		for _, k := range []offer.Kind{offer.Tools, offer.Prompts, offer.Resources, offer.Templates} {
			if list := jsonrpc.Get([]byte(doc), k.String()); list != nil {
				answers = append(answers, peertest.Answer{Method: k.Method(), Result: json.RawMessage(`{"` + k.String() + `":` + string(list) + `}`)})
				of = append(of, ruleCase{id: c.id, trip: doc})
			}
		}
	}
	for _, c := range cases() {
		add(c, c.trip)
	}
	trips := len(answers)
	for _, c := range cases() {
		add(c, c.miss)
	}
	for i, wrong := range peertest.Parse(t, answers) {
		if refused := wrong != ""; refused != (i < trips && claims[of[i].id]) {
			t.Errorf("%s: the SDK says %q of %.600s", of[i].id, wrong, of[i].trip)
		}
	}
}

// Whatever a member is, the section says that the SDK refuses it exactly where the SDK does: each member of each kind of entry takes each
// of some values.
func TestPeerSDKAgrees(t *testing.T) {
	values := []string{"null", "1", "-1", `"a"`, "true", "[]", "{}", `["a"]`, `[1]`, `{"a":1}`, `{"a":true}`, `{"type":"object"}`, `[{"name":"a"}]`, `[{"src":"https://a.b/c"}]`, `"2025-01-12T15:00:58Z"`}
	entries := map[offer.Kind]struct {
		good  string
		paths []string
	}{
		offer.Tools: {
			one(`outputSchema:{"type":"object","properties":{"x":{}}}`, `annotations:{"title":"t"}`, `icons:[{"src":"https://a.b/c"}]`, `execution:{}`),
			[]string{
				"name", "title", "description", "inputSchema", "inputSchema/type", "inputSchema/properties", "inputSchema/properties/x", "inputSchema/required", "outputSchema", "outputSchema/type", "outputSchema/properties",
				"outputSchema/properties/x", "outputSchema/required", "annotations", "annotations/title", "annotations/readOnlyHint", "annotations/destructiveHint", "annotations/idempotentHint", "annotations/openWorldHint",
				"icons", "icons/0", "icons/0/src", "icons/0/theme", "icons/0/sizes", "icons/0/mimeType", "execution", "execution/taskSupport", "_meta",
			},
		},
		offer.Prompts: {`{"name":"a","arguments":[{"name":"b"}]}`, []string{"name", "title", "description", "arguments", "arguments/0", "arguments/0/name", "arguments/0/description", "arguments/0/required", "icons", "_meta"}},
		offer.Resources: {`{"name":"a","uri":"a:b","annotations":{}}`, []string{
			"name", "title", "uri", "description", "mimeType", "size", "annotations", "annotations/audience", "annotations/priority", "annotations/lastModified", "icons", "_meta",
		}},
		offer.Templates: {`{"name":"a","uriTemplate":"a:{b}","annotations":{}}`, []string{"name", "title", "uriTemplate", "description", "mimeType", "annotations", "annotations/audience", "annotations/priority", "annotations/lastModified", "icons", "_meta"}},
	}
	var answers []peertest.Answer
	for k, e := range entries {
		good, err := schema.ParseValue([]byte(e.good))
		require.NoError(t, err)
		for _, p := range e.paths {
			for _, v := range values {
				value, _ := schema.ParseValue([]byte(v))
				doc := good.Set(strings.Split(p, "/"), value)
				answers = append(answers, peertest.Answer{Method: k.Method(), Result: json.RawMessage(`{"` + k.String() + `":[` + doc.String() + `]}`)})
			}
		}
	}
	for i, wrong := range peertest.Parse(t, answers) {
		r := examine(t, listed(t, string(answers[i].Result)), lint.Options{})
		says := slices.ContainsFunc(r.Findings, func(f check.Finding) bool {
			return slices.Contains(f.Clients, "typescript-sdk") && f.ID != "lint/name-edge" && f.ID != "lint/header-invalid"
		})
		if says != (wrong != "") {
			t.Errorf("the SDK says %q of\n%s\nthe section says %q", wrong, answers[i].Result, places(r))
		}
	}
}
