package kit

import (
	"encoding/json"
	"net/http"
)

// Page serves what f gives as JSON, to GET and HEAD.
func Page(f func(r *http.Request) (status int, v any)) http.Handler {
	return ForReading(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, v := f(r)
		WritePage(w, status, v)
	}))
}

// ForReading serves h to GET and HEAD, and 405 to other methods.
func ForReading(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			WritePage(w, http.StatusMethodNotAllowed, map[string]string{"error": "method_not_allowed", "detail": "this page is for GET and HEAD"})
			return
		}
		h.ServeHTTP(w, r)
	})
}

// WritePage answers with v as JSON, which nobody is to keep.
func WritePage(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"internal","detail":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // a client that left needs no answer
}
