package tenant

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func tenants(t testing.TB, o Options) *Tenants {
	t.Helper()
	made, err := New(o)
	require.NoError(t, err)
	return made
}

// whole is both middlewares.
func (t *Tenants) whole(next front.Next) front.Next { return t.Middleware()(t.Slots()(next)) }

// seen answers with the tenant that a handler would see.
func seen(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
	return json.Marshal(kit.TenantOf(ctx))
}

// ask sends one request of a caller whose token is for the tenant claim.
func ask(t testing.TB, m front.Next, claim, method, params string) (string, error) {
	t.Helper()
	x := &front.Exchange{Method: method, Params: []byte(params), Version: "2025-06-18", Caller: kit.Identity{Tenant: claim}}
	raw, err := m(front.WithExchange(context.Background(), x), x)
	var id string
	if err == nil {
		require.NoError(t, json.Unmarshal(raw, &id))
	}
	return id, err
}

func failed(t *testing.T, err error, kind jsonrpc.ErrorKind, code int64, message string) {
	t.Helper()
	f, ok := jsonrpc.AsRequestError(err)
	if !ok || f.Kind != kind || f.Code(false) != code || f.Message != message {
		t.Errorf("got %v; want %s %d %q", err, kind, code, message)
	}
}

func TestX1_WhoseTenant(t *testing.T) {
	m := tenants(t, Options{AutoCreate: true}).Middleware()(seen)
	for _, c := range []struct{ claim, method, params, want string }{
		{"", "tools/call", `{"name":"x"}`, "default"},
		{"", "tools/call", `{"name":"x","arguments":{"tenant_id":"a"}}`, "a"},
		{"", "tools/call", `{"name":"x","_meta":{"tenant_id":"b"}}`, "b"},
		{"", "tools/call", `{"name":"x","arguments":{"tenant_id":"a"},"_meta":{"tenant_id":"b"}}`, "a"},
		{"", "resources/read", `{"uri":"x","_meta":{"tenant_id":"b"}}`, "b"},
		{"", "resources/read", `{"uri":"x"}`, "default"},
		{"", "ping", ``, "default"},
		{"", "tools/list", `{"cursor":""}`, "default"},
		{"c", "tools/call", `{"name":"x"}`, "c"},
		{"c", "tools/call", `{"name":"x","arguments":{"tenant_id":"c"}}`, "c"},
		{"c", "resources/read", `{"uri":"x"}`, "c"},
		{"c", "resources/list", ``, "c"},
	} {
		if got, err := ask(t, m, c.claim, c.method, c.params); got != c.want || err != nil {
			t.Errorf("%+v: %q %v", c, got, err)
		}
	}
}

// The answer to a tenant that the token does not cover is, to the byte, that to one which does not exist.
func TestX1_X2_NoOracle(t *testing.T) {
	m := tenants(t, Options{Known: []string{"a", "b"}}).Middleware()(seen)
	for _, params := range []string{
		`{"name":"x","arguments":{"tenant_id":"%s"}}`, `{"name":"x","_meta":{"tenant_id":"%s"}}`,
	} {
		var answers []string
		for _, id := range []string{"b", "ghost"} {
			_, err := ask(t, m, "a", "tools/call", fmt.Sprintf(params, id))
			failed(t, err, jsonrpc.KindTenantNotFound, -32000, "Tenant not found")
			f, _ := jsonrpc.AsRequestError(err)
			raw, _ := json.Marshal(f.RPC(false))
			answers = append(answers, string(raw))
		}
		if answers[0] != answers[1] {
			t.Errorf("%q", answers)
		}
	}
	if got, err := ask(t, m, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"b"}}`); got != "b" || err != nil {
		t.Error(got, err)
	}
}

func TestX2_UnknownTenantWithoutAutoCreate(t *testing.T) {
	m := tenants(t, Options{Known: []string{"a"}}).Middleware()(seen)
	for _, method := range []string{"tools/call", "resources/read"} {
		_, err := ask(t, m, "", method, `{"name":"x","uri":"x","_meta":{"tenant_id":"ghost"}}`)
		failed(t, err, jsonrpc.KindTenantNotFound, -32000, "Tenant not found")
	}
	_, err := ask(t, m, "revoked", "tools/list", ``)
	failed(t, err, jsonrpc.KindTenantNotFound, -32000, "Tenant not found")
	for _, id := range []string{"a", "default"} {
		if got, err := ask(t, m, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"`+id+`"}}`); got != id || err != nil {
			t.Error(got, err)
		}
	}
}

func TestX2_CreatedTenantsAreRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open := func() (*Registry, func()) {
		db, err := store.Open(pgtest.Path(t, path))
		require.NoError(t, err)
		r, err := NewRegistry(t.Context(), db)
		require.NoError(t, err)
		return r, func() { _ = db.Close() }
	}
	r, closed := open()
	auto := tenants(t, Options{AutoCreate: true, Registry: r}).Middleware()(seen)
	for range 3 {
		if _, err := ask(t, auto, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"new"}}`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.isKnown(t.Context(), "made", true); err != nil {
		t.Fatal(err)
	}
	if n, err := count(r); n != 2 || err != nil {
		t.Error(n, err)
	}
	closed()
	r, closed = open()
	defer closed()
	strict := tenants(t, Options{Registry: r}).Middleware()(seen)
	for _, id := range []string{"new", "made", "new"} {
		if got, err := ask(t, strict, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"`+id+`"}}`); got != id || err != nil {
			t.Error(got, err)
		}
	}
	_, err := ask(t, strict, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"ghost"}}`)
	failed(t, err, jsonrpc.KindTenantNotFound, -32000, "Tenant not found")
}

// count is how many tenants were created.
func count(r *Registry) (n int, err error) {
	err = r.db.QueryRow(`SELECT count(*) FROM tenants`).Scan(&n)
	return n, err
}

func TestX1_IDsHaveAForm(t *testing.T) {
	m := tenants(t, Options{AutoCreate: true}).Middleware()(seen)
	for _, id := range []string{`""`, `" "`, `"a b"`, `"a\u0000"`, `"\u202eevil"`, `"é"`, `"` + strings.Repeat("x", 129) + `"`, `7`, `null`, `["a"]`, `{"a":1}`, `true`} {
		for _, params := range []string{`{"name":"x","arguments":{"tenant_id":` + id + `}}`, `{"name":"x","_meta":{"tenant_id":` + id + `}}`} {
			_, err := ask(t, m, "", "tools/call", params)
			f, ok := jsonrpc.AsRequestError(err)
			if !ok || f.Code(false) != -32602 || f.Data["field"] != "tenant_id" || !strings.HasPrefix(f.Message, "Invalid params: tenant_id must ") {
				t.Errorf("%s: %v", params, err)
			}
		}
	}
	if got, err := ask(t, m, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"`+strings.Repeat("x", 128)+`"}}`); len(got) != 128 || err != nil {
		t.Error(got, err)
	}
	x := &front.Exchange{Method: "tools/call", Version: "2025-11-25", Params: []byte(`{"name":"x","arguments":{"tenant_id":7}}`)}
	raw, err := m(t.Context(), x)
	if err != nil || !strings.Contains(string(raw), `"isError":true`) || !strings.Contains(string(raw), "Invalid params: tenant_id must be a string") {
		t.Errorf("%s %v", raw, err)
	}
}

// What a decoder that ignores case, or takes the last of two, would read must not be another tenant.
func TestX1_SmuggledTenant(t *testing.T) {
	m := tenants(t, Options{AutoCreate: true}).Middleware()(seen)
	for _, args := range []string{
		`{"tenant_id":"a","Tenant_ID":"b"}`, `{"TENANT_ID":"b"}`, `{"tenant_id":"a","tenant_id":"b"}`, `{"tenant_id":"a","tenant\u005fid":"b"}`,
		`{"tenant_id":"a","\u0054enant_id":"b"}`,
	} {
		if got, err := ask(t, m, "a", "tools/call", `{"name":"x","arguments":`+args+`}`); err == nil {
			t.Errorf("%s is %s", args, got)
		}
	}
}

func TestX3_OnlyToolCallsCount(t *testing.T) {
	made := tenants(t, Options{AutoCreate: true, Limits: Limits{PerMinute: 2, Concurrent: 5}})
	m := made.Middleware()(seen)
	for range 20 {
		if _, err := ask(t, m, "", "tools/list", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	for range 2 {
		if _, err = ask(t, m, "", "tools/call", `{"name":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	_, err = ask(t, m, "", "tools/call", `{"name":"x"}`)
	failed(t, err, jsonrpc.KindRateLimited, -32002, "Rate limit exceeded")
	f, _ := jsonrpc.AsRequestError(err)
	if !strings.Contains(string(f.RPC(true).Data), `"retryAfterMs":`) || f.Code(true) != -31002 {
		t.Errorf("%s", f.RPC(true).Data)
	}
	if _, err := ask(t, m, "", "tools/call", `{"name":"x","arguments":{"tenant_id":"other"}}`); err != nil {
		t.Error(err)
	}
	assert.Equal(t, made.Active(), 2)
}

// The eleventh call while ten run is refused, and its place is free again when one ends, also by a panic.
func TestX3_ConcurrentCalls(t *testing.T) {
	made := tenants(t, Options{AutoCreate: true, Limits: Limits{Concurrent: 10}})
	begun, end := make(chan struct{}), make(chan struct{})
	m := made.whole(func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		begun <- struct{}{}
		<-end
		return seen(ctx, x)
	})
	done := make(chan error, 10)
	for range 10 {
		go func() {
			_, err := ask(t, m, "", "tools/call", `{"name":"x"}`)
			done <- err
		}()
		<-begun
	}
	_, err := ask(t, m, "", "tools/call", `{"name":"x"}`)
	failed(t, err, jsonrpc.KindRateLimited, -32002, "Rate limit exceeded")
	close(end)
	for range 10 {
		assert.NoError(t, <-done)
	}
	broken := made.whole(func(context.Context, *front.Exchange) (json.RawMessage, error) { panic("handler") })
	for range 11 {
		func() {
			defer func() { _ = recover() }()
			_, err = ask(t, broken, "", "tools/call", `{"name":"x"}`)
		}()
	}
	if _, err := ask(t, made.whole(seen), "", "tools/call", `{"name":"x"}`); err != nil {
		t.Error(err)
	}
}

func TestConfiguredIDsAreChecked(t *testing.T) {
	if _, err := New(Options{Known: []string{"a b"}}); err == nil {
		t.Error("an id with a space was configured")
	}
}

func BenchmarkMiddleware(b *testing.B) {
	m := tenants(b, Options{AutoCreate: true, Limits: Limits{1 << 30, 1 << 30}}).whole(func(context.Context, *front.Exchange) (json.RawMessage, error) { return nil, nil })
	for _, c := range []struct{ name, params string }{
		{"default", `{"name":"echo","arguments":{"text":"hello"}}`},
		{"named", `{"name":"echo","arguments":{"text":"hello","tenant_id":"acme"}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := &front.Exchange{Method: "tools/call", Params: []byte(c.params)}
			for b.Loop() {
				if _, err := m(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
