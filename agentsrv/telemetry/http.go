package telemetry

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// checkTime bounds what /ready and /status wait for.
const checkTime = 2 * time.Second

// Public are the pages that need no token: /health, which answers 200 as long as the process does, and /ready, which
// answers 503 and the reasons while the agent cannot be used.
func (t *Telemetry) Public() map[string]http.Handler {
	return map[string]http.Handler{"/health": page(t.health), "/ready": page(t.readiness)}
}

// Private are the pages that need a token where the agent asks for one: /metrics for Prometheus, and /status.
func (t *Telemetry) Private() map[string]http.Handler {
	return map[string]http.Handler{"/metrics": kit.ForReading(http.HandlerFunc(t.scrape)), "/status": page(t.status)}
}

// page serves what f gives as JSON.
func page(f func(context.Context) (status int, v any)) http.Handler {
	return kit.Page(func(r *http.Request) (int, any) {
		ctx, cancel := context.WithTimeout(r.Context(), checkTime)
		defer cancel()
		return f(ctx)
	})
}

func (t *Telemetry) health(context.Context) (int, any) {
	return http.StatusOK, struct {
		Status  string `json:"status"`
		Name    string `json:"name"`
		Version string `json:"version"`
	}{"ok", t.o.Name, t.o.Version}
}

func (t *Telemetry) readiness(ctx context.Context) (int, any) {
	reasons := map[string]string{}
	for part, check := range t.o.Ready {
		if err := check(ctx); err != nil {
			reasons[part] = err.Error()
		}
	}
	if len(reasons) > 0 {
		return http.StatusServiceUnavailable, map[string]any{"status": "not ready", "reasons": reasons}
	}
	return http.StatusOK, map[string]any{"status": "ready"}
}

func (t *Telemetry) status(ctx context.Context) (int, any) {
	up := time.Since(t.started)
	failed, calls := t.tools.totals()
	out := map[string]any{
		"name":      t.o.Name,
		"version":   t.o.Version,
		"started":   t.started.UTC().Format(time.RFC3339),
		"uptime_ms": up.Milliseconds(),
		"tools":     map[string]any{"calls": calls, "errors": failed, "error_rate": t.tools.value(up)},
	}
	if t.o.Queue != nil {
		out["queue"] = t.o.Queue()
	}
	if t.o.Sessions != nil {
		out["sessions"] = map[string]int{"active": t.o.Sessions()}
	}
	if t.o.Tenants != nil {
		out["tenants"] = map[string]int{"active": t.o.Tenants()}
	}
	for name, part := range t.o.Status {
		out[name] = part(ctx)
	}
	return http.StatusOK, out
}

func (t *Telemetry) scrape(w http.ResponseWriter, r *http.Request) {
	if !t.ready() {
		kit.WritePage(w, http.StatusServiceUnavailable, map[string]string{"error": "closed"})
		return
	}
	promhttp.HandlerFor(t.export.Registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
}
