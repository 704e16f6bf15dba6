package telemetry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

func short(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:4])
}

func lines(t *testing.T, raw []byte) (out []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(raw) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

func TestO6_OneLineForEachCall(t *testing.T) {
	a := newAgent(t, Options{})
	a.call("echo", `{"text":"private-text","tenant_id":"acme"}`)
	a.call("fail", `{}`)
	a.call("crash", `{}`)
	a.call("echo", `{"text":5}`)
	a.call("no\\nsuch\\u001b[2J{\\\"tool\\\":\\\"forged\\\"}", `{}`)
	a.call(strings.Repeat("long", 5000), `{}`)
	a.close()
	got := lines(t, []byte(a.log.String()))
	if len(got) != 6 {
		t.Fatalf("%d lines: %s", len(got), a.log)
	}
	for i, want := range []struct{ tool, tenant, err string }{
		{"echo", "acme", ""},
		{"fail", "default", "tool_error"},
		{"crash", "default", "tool_execution"},
		{"echo", "default", "invalid_params"},
		{"no\nsuch\u001b[2J{\"tool\":\"forged\"}", "default", "tool_not_found"},
		{"", "default", "tool_not_found"},
	} {
		l := got[i]
		if want.tool == "" {
			want.tool = l["tool"].(string)
			if len(want.tool) > maxValue+10 {
				t.Errorf("a name of %d bytes", len(want.tool))
			}
		}
		var keys []string
		for k := range l {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		wantKeys := "duration_ms,level,msg,tenant_id,time,tool,trace_id"
		if want.err != "" {
			wantKeys = "duration_ms,error,level,msg,tenant_id,time,tool,trace_id"
		}
		ms, isNumber := l["duration_ms"].(float64)
		if l["msg"] != "MCP tool called" || l["tool"] != want.tool || l["tenant_id"] != want.tenant || !isNumber || ms < 0 || len(l["trace_id"].(string)) != 32 || strings.Join(keys, ",") != wantKeys {
			t.Errorf("line %d: %v", i, l)
		}
		if want.err != "" && l["error"] != want.err {
			t.Errorf("line %d: %v", i, l)
		}
	}
	if strings.Contains(a.log.String(), "private-text") || strings.Contains(a.log.String(), "s3cret") {
		t.Errorf("arguments or the token are in the log: %s", a.log)
	}
}

// What became a task is logged when it is over, with how it ended.
func TestO6_TasksAreLoggedWhenTheyEnd(t *testing.T) {
	a := newAgent(t, Options{})
	a.call("later", `{"tenant_id":"acme"}`)
	a.call("echo", `{}`)
	if got := lines(t, []byte(a.log.String())); len(got) != 1 || got[0]["tool"] != "echo" {
		t.Errorf("%s", a.log)
	}
	close(a.release)
	a.running.Wait()
	got := lines(t, []byte(a.log.String()))
	if len(got) != 2 || got[1]["tool"] != "later" || got[1]["error"] != "tool_error" || got[1]["tenant_id"] != "acme" {
		t.Errorf("%s", a.log)
	}
	if _, page := a.get("/metrics", true); value(t, page, "mcp_tool_error_rate") != 0.5 {
		t.Error("the error of the task does not count")
	}
}

func TestO7_SecretsAreHiddenAtEveryLevel(t *testing.T) {
	var b bytes.Buffer
	base := slog.New(Redact(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	link, err := url.Parse("https://user:s3cret@h/x?access_token=s3cret&q=1")
	require.NoError(t, err)
	for _, log := range []*slog.Logger{base, base.With("authorization", "Bearer s3cret-1234567"), base.WithGroup("g").With("api_key", "s3cret")} {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			log.Log(context.Background(), level, "sent Authorization: Bearer s3cret-1234567",
				"header", http.Header{"Authorization": {"Bearer s3cret-1234567"}, "X-Api-Key": {"s3cret"}, "Cookie": {"a=s3cret"}},
				"url", link, "text", "see https://user:s3cret@h/x?token=s3cret", "error", errors.New("GET http://u:s3cret@h: refused"),
				"token", "s3cret", slog.Group("in", "password", "s3cret"), "env", map[string]string{"GITHUB_TOKEN": "s3cret"},
				"list", []string{"Bearer s3cret-1234567"}, "any", struct{ A string }{"Bearer s3cret-1234567"}, "nil", nil, "n", 5)
		}
	}
	if strings.Contains(b.String(), "s3cret") {
		t.Errorf("%s", &b)
	}
	for _, l := range lines(t, b.Bytes()) {
		if g, ok := l["g"].(map[string]any); ok {
			l = g
		}
		if l["n"] != 5.0 || !strings.Contains(l["url"].(string), "q=1") {
			t.Errorf("%v", l)
		}
	}
}

func TestNamesAreCutBetweenCharacters(t *testing.T) {
	a := newAgent(t, Options{})
	a.call("x"+strings.Repeat("é", maxValue), `{}`)
	a.close()
	got := lines(t, []byte(a.log.String()))
	if len(got) != 1 || got[0]["tool"] != "x"+strings.Repeat("é", (maxValue-1)/2)+"…" {
		t.Errorf("%v", got)
	}
}

// A name is cut where a character ends.
func TestClipTearsNoCharacter(t *testing.T) {
	for _, s := range []string{"a" + strings.Repeat("é", maxValue), "ab" + strings.Repeat("日", maxValue), "abc" + strings.Repeat("🙂", maxValue)} {
		if got := clip(s); strings.ContainsRune(got, '\uFFFD') || !strings.HasSuffix(got, "…") || len(got) > maxValue+len("…") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
