package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	exportTimeout = 5 * time.Second
	RetryFor      = 20 * time.Second // how long an export is tried again
)

// exports reports whether a collector is configured for a signal, as the OpenTelemetry specification says
// (https://opentelemetry.io/docs/specs/otel/protocol/exporter).
func (e *Exporter) exports(signal string) bool { return isConfigured(e.o.OTLP, signal) }

// Collected reports whether spans go to a collector: to otlp, see Options.OTLP, or to that of the environment.
func Collected(otlp string) bool { return isConfigured(otlp, "TRACES") }

func isConfigured(otlp, signal string) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_"+signal+"_EXPORTER") == "none" {
		return false
	}
	return otlp != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// endpoint is where the option wants a signal to go, "" where the environment decides.
func (e *Exporter) endpoint(path string) (string, error) {
	if e.o.OTLP == "" {
		return "", nil
	}
	u, err := url.Parse(e.o.OTLP)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the collector's address %q is not the URL of one, such as http://127.0.0.1:4318", mask.URL(e.o.OTLP))
	}
	return u.JoinPath(path).String(), nil
}

// reach is how a signal gets to its collector: as requests get to servers, with the certificates that the specification's variables
// name. to is where, "" where the environment says it.
func reach(to, signal string) (*http.Client, error) {
	of := func(name string) string {
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	network, err := transport.NewNetwork(config.Server{
		URL: cmp.Or(to, of("ENDPOINT")), CA: of("CERTIFICATE"), ClientCert: of("CLIENT_CERTIFICATE"), ClientKey: of("CLIENT_KEY"),
	})
	if err != nil {
		return nil, fmt.Errorf("the collector: %w", err)
	}
	t := network.Transport(network.URL(), (&net.Dialer{Timeout: exportTimeout}).DialContext)
	t.TLSHandshakeTimeout, t.IdleConnTimeout, t.ForceAttemptHTTP2 = exportTimeout, 90*time.Second, true
	limit := exportTimeout
	if ms, err := strconv.ParseUint(of("TIMEOUT"), 10, 31); err == nil && ms > 0 {
		limit = time.Duration(ms) * time.Millisecond
	}
	return &http.Client{Transport: t, Timeout: limit}, nil
}

// SpanExporter is what sends spans to the collector of the options, until life is done.
func SpanExporter(life context.Context, o Options) (sdktrace.SpanExporter, error) {
	return (&Exporter{o: o, life: life}).spanExporter()
}

// spanExporter sends JSON unless OTEL_EXPORTER_OTLP_PROTOCOL says otherwise: every collector takes it, and people who
// debug can read it.
func (e *Exporter) spanExporter() (sdktrace.SpanExporter, error) {
	to, err := e.endpoint("v1/traces")
	if err != nil {
		return nil, err
	}
	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: exportTimeout, MaxElapsedTime: RetryFor,
	})}
	client, err := reach(to, "TRACES")
	if err != nil {
		return nil, err
	}
	options = append(options, otlptracehttp.WithHTTPClient(client))
	if to != "" {
		options = append(options, otlptracehttp.WithEndpointURL(to))
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") == "" {
		options = append(options, otlptracehttp.WithEncoding(otlptracehttp.EncodingJSON))
	}
	out, err := otlptracehttp.New(e.life, options...)
	return &spanExporter{SpanExporter: out, report: report{log: e.o.Logger, what: "spans"}, life: e.life, client: client}, err
}

func (e *Exporter) metricExporter() (sdkmetric.Exporter, error) {
	to, err := e.endpoint("v1/metrics")
	if err != nil {
		return nil, err
	}
	options := []otlpmetrichttp.Option{otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{
		Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: exportTimeout, MaxElapsedTime: RetryFor,
	})}
	client, err := reach(to, "METRICS")
	if err != nil {
		return nil, err
	}
	options = append(options, otlpmetrichttp.WithHTTPClient(client))
	if to != "" {
		options = append(options, otlpmetrichttp.WithEndpointURL(to))
	}
	out, err := otlpmetrichttp.New(e.life, options...)
	return &metricExporter{Exporter: out, report: report{log: e.o.Logger, what: "metrics"}, life: e.life, client: client}, err
}

// report logs that exports began to fail, and that they work again. The library would print each failure on stderr.
type report struct {
	log     *slog.Logger
	what    string
	failing atomic.Bool
}

func (r *report) result(err error) error {
	switch {
	case err != nil && !r.failing.Swap(true):
		r.log.Warn("cannot export "+r.what+"; they are dropped until the collector accepts them", "error", mask.Text(err.Error()))
	case err == nil && r.failing.Swap(false):
		r.log.Info("exporting " + r.what + " again")
	}
	return nil
}

type spanExporter struct {
	sdktrace.SpanExporter
	report
	life   context.Context
	client *http.Client
}

// Shutdown closes the connections that were kept for the next export.
func (e *spanExporter) Shutdown(ctx context.Context) error {
	defer e.client.CloseIdleConnections()
	return e.SpanExporter.Shutdown(ctx)
}

// ExportSpans gives up when the Exporter closes.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := withLife(ctx, e.life)
	defer cancel()
	return e.result(e.SpanExporter.ExportSpans(ctx, spans))
}

type metricExporter struct {
	sdkmetric.Exporter
	report
	life   context.Context
	client *http.Client
}

// Shutdown closes the connections that were kept for the next export.
func (e *metricExporter) Shutdown(ctx context.Context) error {
	defer e.client.CloseIdleConnections()
	return e.Exporter.Shutdown(ctx)
}

// Export gives up when the Exporter closes.
func (e *metricExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	ctx, cancel := withLife(ctx, e.life)
	defer cancel()
	return e.result(e.Exporter.Export(ctx, data))
}

// withLife is ctx, ended by the end of life too.
func withLife(ctx, life context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(life, cancel)
	return ctx, func() { stop(); cancel() }
}
