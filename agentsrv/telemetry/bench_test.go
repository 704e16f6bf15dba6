package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/test/require"
)

func BenchmarkCall(b *testing.B) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(b, err)
	defer null.Close()
	for name, w := range map[string]io.Writer{"silent": nil, "logged": io.Discard, "written": null} {
		b.Run(name, func(b *testing.B) {
			o := Options{Known: func(string) bool { return true }}
			if w != nil {
				o.Logger = slog.New(Redact(slog.NewJSONHandler(w, nil)))
			}
			t := New(o)
			defer t.Close(context.Background())
			m := t.Middleware()(t.Queued()(func(context.Context, *front.Exchange) (json.RawMessage, error) {
				return json.RawMessage(`{"content":[{"type":"text","text":"hello"}]}`), nil
			}))
			for b.Loop() {
				x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"echo","arguments":{"text":"hello"}}`)}
				if _, err := m(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBoot(b *testing.B) {
	for b.Loop() {
		t := New(Options{})
		t.ready()
		_ = t.Close(context.Background())
	}
}
