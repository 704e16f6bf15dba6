package sessions

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/kept"
)

// handler is the whole surface of a session's socket. The guard is for what reaches a socket by way of a browser's proxy.
func (k *keeper) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc(kept.PathMCP, k.mcp)
	m.HandleFunc("GET "+kept.PathStatus, func(w http.ResponseWriter, _ *http.Request) { answer(w, k.status()) })
	m.HandleFunc("POST "+kept.PathClose, func(w http.ResponseWriter, _ *http.Request) {
		k.close()
		answer(w, struct{}{})
	})
	m.HandleFunc("POST "+kept.PathWaiting, k.keep)
	m.HandleFunc("GET "+kept.PathWaiting+"/{id}", k.take)
	m.HandleFunc("DELETE "+kept.PathWaiting+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		if c, ok := k.waiting.forget(r.PathValue("id")); ok {
			k.endpoint.Abandon(jsonrpc.GetString(c.Result, "requestState")) // of one that was answered there is none
		}
		answer(w, struct{}{})
	})
	return listen.Guard(m)
}

// mcp is the server.
func (k *keeper) mcp(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	if k.sess == nil {
		k.mu.Unlock()
		http.Error(w, "the session is being opened: its server is not connected yet", http.StatusServiceUnavailable)
		return
	}
	k.running++
	if r.Method == http.MethodPost {
		k.calls++
	}
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.running--
		k.used = time.Now()
		k.mu.Unlock()
	}()
	k.endpoint.ServeHTTP(w, r)
}

// take gives a call to the one who answers it, whose it is while the connection is open.
func (k *keeper) take(w http.ResponseWriter, r *http.Request) {
	c, release, err := k.waiting.take(r.PathValue("id"))
	switch {
	case errors.Is(err, errTaken):
		http.Error(w, err.Error(), http.StatusConflict)
		return
	case err != nil:
		http.NotFound(w, r)
		return
	}
	defer release()
	to := http.NewResponseController(w)
	_ = to.SetReadDeadline(time.Time{}) // that of the body, of which there is none
	answer(w, c)
	_ = to.Flush() // who asked may be gone, which the context says
	select {
	case <-r.Context().Done():
	case <-k.over:
	}
}

// keep keeps a call for whoever answers it.
func (k *keeper) keep(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWaiting))
	var c kept.Waiting
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		http.Error(w, "the call cannot be kept: "+err.Error(), http.StatusBadRequest)
		return
	}
	if c, err = k.waiting.add(c); errors.Is(err, errFull) {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	c.Params, c.Result = nil, nil
	answer(w, c)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // who asked may be gone
}
