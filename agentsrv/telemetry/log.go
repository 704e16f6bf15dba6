package telemetry

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
)

// maxValue bounds what a client made up and spans and logs repeat, in bytes.
const maxValue = 200

func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, maxValue), "\uFFFD") }

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// calledMessage is the message of the line that each tool call gets.
const calledMessage = "MCP tool called"

// calledForAnother is that of the line of a call which arrived at another process, and ran in this one.
const calledForAnother = calledMessage + " for another replica"

// log writes that line. It has no arguments and no results, and nothing in it is made up by the client but the names of
// tools that do not exist, which are cut and masked.
func (t *Telemetry) log(ctx context.Context, message, tool string, known bool, tenant, trace string, kind jsonrpc.ErrorKind, took time.Duration) {
	if !t.o.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	if !known {
		tool = clip(mask.Text(clip(tool)))
	}
	attrs := [5]slog.Attr{
		slog.String("tool", tool),
		slog.String("tenant_id", tenant),
		slog.Float64("duration_ms", milliseconds(took)),
		slog.String("trace_id", trace),
	}
	n := 4
	if kind != "" {
		attrs[n] = slog.String("error", string(kind))
		n++
	}
	// Without a source: it is this line always, and finding that out costs as much as the rest.
	line := slog.NewRecord(time.Now(), slog.LevelInfo, message, 0)
	line.AddAttrs(attrs[:n]...)
	_ = t.o.Logger.Handler().Handle(ctx, line) // a Logger ignores it too
}
