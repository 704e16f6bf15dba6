package kit

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

type record []string

func (r *record) Notify(_ context.Context, method string, params map[string]any) error {
	raw, err := json.Marshal(params)
	*r = append(*r, method+" "+string(raw))
	return err
}

func TestD4_TextAndStructuredAreTheSame(t *testing.T) {
	res, err := JSON(struct {
		A string `json:"a"`
	}{"<&>"})
	require.NoError(t, err)
	text := res.Content[0].(mcp.TextContent).Text
	if text != `{"a":"<&>"}` || string(res.RawStructuredContent) != text || res.IsError {
		t.Errorf("%+v", res)
	}
	if res, err := ErrorJSON(map[string]int{"x": 1}); err != nil || !res.IsError {
		t.Error(res, err)
	}
	if _, err := JSON(func() {}); err == nil {
		t.Error("a function became JSON")
	}
}

func TestProgressOnlyWhereAskedFor(t *testing.T) {
	var got record
	ctx := WithNotifier(context.Background(), &got)
	var r mcp.CallToolRequest
	require.NoError(t, Progress(ctx, r, 1, 2, "no"))
	r.Params.Meta = &mcp.Meta{ProgressToken: "p"}
	require.NoError(t, Progress(ctx, r, 1, 0, ""))
	require.NoError(t, Progress(ctx, r, 2, 4, "half"))
	want := []string{
		`notifications/progress {"progress":1,"progressToken":"p"}`,
		`notifications/progress {"message":"half","progress":2,"progressToken":"p","total":4}`,
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q", got)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := Progress(gone, r, 3, 4, ""); !errors.Is(err, context.Canceled) || len(got) != 2 {
		t.Error(err, got)
	}
	if err := Notify(context.Background(), "x", nil); err == nil {
		t.Error("a notification to nobody succeeded")
	}
}

func TestTenantOf(t *testing.T) {
	ctx := context.Background()
	assert.Equal(t, TenantOf(ctx), DefaultTenant)
	ctx = WithCaller(ctx, Identity{Tenant: "a"})
	if TenantOf(ctx) != "a" || Caller(ctx).Tenant != "a" {
		t.Error(TenantOf(ctx))
	}
	if ctx = WithTenant(ctx, "b"); TenantOf(ctx) != "b" {
		t.Error(TenantOf(ctx))
	}
}

func TestArguments(t *testing.T) {
	var r mcp.CallToolRequest
	var in struct{ N json.Number }
	if bad := Arguments(r, &in); bad != nil {
		t.Error(bad)
	}
	r.Params.Arguments = json.RawMessage(`{"n":9007199254740993}`)
	if bad := Arguments(r, &in); bad != nil || in.N != "9007199254740993" {
		t.Error(bad, in)
	}
	r.Params.Arguments = json.RawMessage(`[]`)
	if bad := Arguments(r, &in); bad == nil || !bad.IsError {
		t.Error(bad)
	}
}
