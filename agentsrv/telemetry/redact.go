package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/mcphud/mcphud/session/base/mask"
)

// Redact is h without secrets: what well-known tokens look like, user info and telling parameters of URLs, and the values
// of whatever has the name of a secret become "***", in groups, headers and errors too.
func Redact(h slog.Handler) slog.Handler { return redacting{h} }

type redacting struct{ slog.Handler }

// Handle passes on a record without secrets.
func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == calledMessage {
		return h.Handler.Handle(ctx, r) // was made without any, and is written with each call
	}
	clean := slog.NewRecord(r.Time, r.Level, mask.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(redact(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs adds attributes to every record.
func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = redact(a)
	}
	return redacting{h.Handler.WithAttrs(clean)}
}

// WithGroup puts what follows into a group.
func (h redacting) WithGroup(name string) slog.Handler { return redacting{h.Handler.WithGroup(name)} }

func redact(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, mask.Value(a.Key, v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, g := range v.Group() {
			group = append(group, redact(g))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		return slog.Any(a.Key, redactAny(a.Key, v.Any()))
	}
	return a
}

func redactAny(key string, v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case error:
		return mask.Value(key, v.Error())
	case *url.URL:
		return mask.Value(key, mask.URL(v.String()))
	case http.Header:
		clean := make(http.Header, len(v))
		for name, values := range v {
			for _, s := range values {
				clean[name] = append(clean[name], mask.Header(name, s))
			}
		}
		return clean
	case map[string]string:
		clean := make(map[string]string, len(v))
		for name, s := range v {
			clean[name] = mask.Value(name, s)
		}
		return clean
	case fmt.Stringer:
		return mask.Value(key, v.String())
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return mask.Value(key, fmt.Sprint(v))
	}
	if s := mask.Value(key, string(raw)); s != string(raw) {
		return s
	}
	return v
}
