package main

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// secret is what must never be seen again once it was given.
const secret = "hunter2Sup3rS3cretValue"

var copied = regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]*)\x07`)

// TestSecretsStayHidden gives secrets in every way there is and looks for them
// on all screens, in what is copied, in messages and in the journal.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session="+secret)
		w.Header().Set("Mcp-Session-Id", secret)
		w.Header().Set("WWW-Authenticate", `Bearer realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(refuse.Close)
	host := strings.TrimPrefix(refuse.URL, "http://")
	good := faketest.Stdio(t, behave.Good)
	for name, args := range map[string][]string{
		"header":         {"-H", "Authorization: Bearer " + secret, "-H", "X-Api-Key: " + secret, "--url", url},
		"query":          {"--url", url + "?token=" + secret},
		"user info":      {"--url", strings.Replace(url, "://", "://me:"+secret+"@", 1)},
		"refused":        {"-H", "Cookie: a=" + secret, "--url", refuse.URL + "/mcp"},
		"refused, user":  {"--url", "http://me:" + secret + "@" + host + "/mcp?api_key=" + secret},
		"nobody there":   {"-H", "Authorization: Basic " + secret, "--url", "http://me:" + secret + "@127.0.0.1:1/mcp?key=" + secret},
		"no such scheme": {"--url", "ftp://me:" + secret + "@127.0.0.1/mcp"},
		"environment":    {"-e", "API_TOKEN=" + secret, "--", good.Command, "good", "--token", secret, "--password=" + secret},
		"not found":      {"-e", "API_TOKEN=" + secret, "--", "/nonexistent/server", "--token", secret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "journal")
			hidden := func(where, text string) {
				t.Helper()
				for _, s := range []string{secret, base64.StdEncoding.EncodeToString([]byte("me:" + secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
					if i := strings.Index(text, s); i >= 0 {
						t.Errorf("%s shows the secret: …%q…", where, text[max(0, i-200):min(len(text), i+40)])
					}
				}
			}
			for _, format := range []string{"text", "json"} {
				o := mcphud(t, append([]string{"info", "--format", format, "--journal", file}, args...)...)
				hidden("info as "+format, o.out+o.stderr)
			}
			s := startUI(t, append([]string{"--journal", file}, args...)...)
			if name == "no such scheme" {
				s.exit()
				hidden("the message", s.written())
				return
			}
			s.shows("Tools")
			for _, keys := range []string{"1", "yc", "\x1b", "ym", "\x1b", "yj", "\x1b", "\t", "G", "6", "g", "\x1b[B", "\x1b[B", "\x1b[B", "\x1b[B", "\x1b[B", "7", "2", "yc", "\x1b", ":", "\x1b", "\x10", "\x1b", "?", "\x1b"} {
				_, _ = io.WriteString(s.f, keys)
				s.settle(25 * time.Millisecond) // whatever is drawn by then
			}
			s.signal(os.Interrupt)
			s.exit()
			hidden("the screen", s.written())
			for _, m := range copied.FindAllStringSubmatch(s.written(), -1) {
				b, _ := base64.StdEncoding.DecodeString(m[1])
				hidden("the clipboard", string(b))
			}
			hidden("the journal", contents(file))
			if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the journal has mode %v", info.Mode())
			}
		})
	}
}
