package chat

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// embedder answers every request with a status and a body.
func embedder(t *testing.T, status int, body string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	c := newClient(t, Model{URL: s.URL + "/v1/", Key: "s3cret", Name: "m"})
	t.Cleanup(c.Close)
	return c
}

func TestEmbed(t *testing.T) {
	c := embedder(t, 200, `{"object":"list","data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[3,4]}],"usage":{}}`)
	got, err := c.Embed(t.Context(), []string{"a", "b"})
	if err != nil || fmt.Sprint(got) != "[[0.6 0.8] [0 -1]]" {
		t.Errorf("%v %v", got, err)
	}
	c = embedder(t, 200, `{"data":[{"embedding":[3e38,0]},{"embedding":[1e-30,0]}]}`)
	got, err = c.Embed(t.Context(), []string{"a", "b"})
	if err != nil || math.Abs(float64(got[0][0])-1) > 1e-6 || math.Abs(float64(got[1][0])-1) > 1e-6 {
		t.Errorf("without indices, very long and very short: %v %v", got, err)
	}
}

func TestEmbedRefusesAnswers(t *testing.T) {
	one := func(v string) string { return `{"data":[{"embedding":` + v + `}]}` }
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"no JSON":          {200, "<html>", "did not answer with embeddings"},
		"another API":      {200, `{"choices":[]}`, "0 embeddings for 1 texts"},
		"too many":         {200, `{"data":[{"embedding":[1]},{"embedding":[1]}]}`, "2 embeddings for 1 texts"},
		"another's":        {200, `{"data":[{"index":1,"embedding":[1]}]}`, "text 1"},
		"negative":         {200, `{"data":[{"index":-1,"embedding":[1]}]}`, "text -1"},
		"empty":            {200, one("[]"), "0 numbers"},
		"null":             {200, one("null"), "0 numbers"},
		"too long":         {200, one("[" + strings.Repeat("1,", MaxDims) + "1]"), "8193 numbers"},
		"no direction":     {200, one("[0,0,null]"), "no direction"},
		"too large":        {200, one("[1e39]"), "did not answer with embeddings"},
		"not a number":     {200, one("[NaN]"), "did not answer with embeddings"},
		"a string":         {200, one(`"AAAA"`), "did not answer with embeddings"},
		"huge":             {200, strings.Repeat(" ", maxEmbeddings+1), "more than"},
		"refused":          {429, `{"error":{"message":"no s3cret quota"}}`, "HTTP status 429: no *** quota"},
		"moved":            {302, "", "HTTP status 302"},
		"a status of none": {204, "", "HTTP status 204"},
	} {
		if got, err := embedder(t, c.status, c.body).Embed(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v %v", name, got, err)
		} else if e, ok := err.(*StatusError); ok != (c.status != 200) || ok && e.After != 7*time.Second {
			t.Errorf("%s: %#v", name, err)
		}
	}
	c := embedder(t, 200, `{"data":[{"embedding":[1,0]},{"embedding":[1]}]}`)
	if got, err := c.Embed(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "of 2 and of 1 numbers") {
		t.Errorf("%v %v", got, err)
	}
}
