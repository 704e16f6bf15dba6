package main

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
)

const madeAgent = `{"agent_name":"a","tenant_id":"t","user_id":"u","description":"x","output_schema":{"type":"object"}}`

// Two agents on one database are one to their users; a server that goes fails calls, which work again when it is back.
func TestBackendAgentsShareAStore(t *testing.T) {
	t.Parallel()
	pg := pgtest.Private(t)
	url := pg.URL("postgres")
	a, b := serveAgent(t, "--store", url), serveIn(t, t.TempDir(), []string{"AGENT_STORE=" + url})
	a.call("create_agent", madeAgent).text(t)
	const read = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"my-agents://list","_meta":{"tenant_id":"t"}}}`
	if r := b.post(read); !strings.Contains(r.body, "agentlet://user/u/a") {
		t.Error(r.body)
	}
	if r := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_agent","arguments":` + madeAgent + `}}`); !strings.Contains(r.body, "is taken") {
		t.Error(r.body)
	}
	if got := b.call("lookup_entity", `{"tenant_id":"t","entity_type":"person","query":"a"}`).text(t); !strings.Contains(got, "nearest") && !strings.Contains(got, "success") {
		t.Error(got)
	}
	require.NoError(t, pg.Stop())
	for _, tool := range []string{`"create_agent","arguments":` + strings.Replace(madeAgent, `"a"`, `"b"`, 1), `"lookup_entity","arguments":{"tenant_id":"t","entity_type":"person","query":"a"}`} {
		r := b.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + tool + `}}`)
		if !strings.Contains(r.body, "the store cannot be reached") || !strings.Contains(r.body, "PostgreSQL at ") || !strings.Contains(r.body, `"retryAfterMs":1000`) {
			t.Error(r.body)
		}
	}
	gone := agentCommand(t, t.TempDir(), nil, "--port", "0", "--store", url)
	if o := finish(t, gone); o.code != cli.ExitUnreachable || !strings.Contains(o.stderr, "cannot reach PostgreSQL at ") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	require.NoError(t, pg.Start())
	b.call("create_agent", strings.Replace(madeAgent, `"a"`, `"b"`, 1)).text(t)
	if r := a.post(read); !strings.Contains(r.body, "agentlet://user/u/b") {
		t.Error(r.body)
	}
}

// A password is neither shown nor left unmentioned.
func TestTheStoresPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	const url = "postgres://u:pw12345@127.0.0.1:1/d?sslmode=disable"
	for _, env := range []string{"", "AGENT_STORE=" + url} {
		args := []string{"--port", "0"}
		if env == "" {
			args = append(args, "--store", url)
		}
		o := finish(t, agentCommand(t, t.TempDir(), []string{env}, args...))
		if o.code != cli.ExitUnreachable || strings.Contains(o.stderr, "pw12345") || !strings.Contains(o.stderr, "cannot reach PostgreSQL at 127.0.0.1:1: check that it runs, and the address") {
			t.Errorf("exit %d: %s", o.code, o.stderr)
		}
		if warned := strings.Contains(o.stderr, "the password of --store is in process listings"); warned != (env == "") {
			t.Errorf("warned %v: %s", warned, o.stderr)
		}
	}
	o := finish(t, agentCommand(t, t.TempDir(), nil, "--port", "0", "--queue", "nats://u:pw12345@127.0.0.1:1", "--register", "nats://u:pw12345@127.0.0.1:1/routes"))
	if strings.Contains(o.stderr, "pw12345") || !strings.Contains(o.stderr, "set AGENT_QUEUE instead") || !strings.Contains(o.stderr, "set AGENT_REGISTER instead") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if o := mcphud(t, "config", "explain", "agent", "--store", url, "--format", "text"); strings.Contains(o.out, "pw12345") || !strings.Contains(o.out, "postgres://***@127.0.0.1:1/d") {
		t.Error(o.out)
	}
}
