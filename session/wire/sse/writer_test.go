package sse

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestWriterWritesWhatReaderReads(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, httptest.NewRequest(http.MethodGet, "/", nil), time.Minute)
	if w.Begun() || w.Event([]byte(`{"a":1}`)) != nil || w.Comment() != nil || w.Event([]byte(`{"a":2}`)) != nil || !w.Begun() {
		t.Fatal("nothing is written")
	}
	if h := rec.Header(); rec.Code != 200 || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") == "" || !rec.Flushed {
		t.Errorf("%d %v", rec.Code, h)
	}
	r := NewReader(rec.Body, 100, 0)
	for _, want := range []string{`{"a":1}`, `{"a":2}`} {
		if e, err := r.Next(); err != nil || string(e.Data) != want || e.Name != "message" {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A client that does not read ends the writing, and not only for the event that did not fit.
func TestWriterGivesUp(t *testing.T) {
	failed := make(chan error, 1)
	web := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w, big := NewWriter(rw, r, 100*time.Millisecond), make([]byte, 1<<20)
		for {
			if err := w.Event(big); err != nil {
				failed <- err
				return
			}
		}
	}))
	defer web.Close()
	res, err := http.Get(web.URL)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	select {
	case <-failed:
	case <-time.After(30 * time.Second):
		t.Error("it waits for ever")
	}
}
