package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// What is published about a server is held against what it says. That there is none is left out.
func TestPublishedDocuments(t *testing.T) {
	mcp := behave.Handler(behave.Good, behave.Fault{JSON: true})
	for name, c := range map[string]struct {
		text   string
		status doctor.Status
		words  []string
	}{
		"nothing":   {"", doctor.Skipped, []string{"nothing is published"}},
		"the same":  {`{"name":"fakemcp","version":"1.0.0"}`, doctor.OK, []string{"agrees with what the server says"}},
		"different": {`{"name":"fake","version":"0.0.0-old","tools":["gone"]}`, doctor.Warning, []string{"not what the server says", "version: the document says \"0.0.0-old\"", "also gone"}},
		"broken":    {`{"name":`, doctor.OK, []string{"nothing is published that can be read", "is not JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/mcp":
					mcp.ServeHTTP(w, r)
				case r.URL.Path == "/.well-known/mcp.json" && c.text != "":
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(c.text))
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(srv.Close)
			want(t, diagnose(t, config.Server{Name: "published", Transport: config.HTTP, URL: srv.URL + "/mcp"}), "card", c.status, c.words...)
		})
	}
}
