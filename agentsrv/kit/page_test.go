package kit

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestPage(t *testing.T) {
	var v any = map[string]int{"n": 1}
	h := Page(func(*http.Request) (int, any) { return http.StatusAccepted, v })
	get := func(method string) (int, string, http.Header) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		return w.Code, w.Body.String(), w.Header()
	}
	if code, body, header := get(http.MethodGet); code != 202 || body != "{\"n\":1}\n" || header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("GET: %d %q %v", code, body, header)
	}
	if code, body, header := get(http.MethodPost); code != 405 || body != `{"detail":"this page is for GET and HEAD","error":"method_not_allowed"}`+"\n" || header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %q %v", code, body, header)
	}
	v = math.Inf(1)
	if code, _, _ := get(http.MethodGet); code != 500 {
		t.Errorf("what JSON cannot hold: %d", code)
	}
}
