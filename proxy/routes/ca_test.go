package routes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// ofCA is a file with a route that names a file of certificates.
func ofCA(ca string) string {
	name, _ := json.Marshal(ca)
	return "{\"routes\":{\"a\":{\"url\":\"https://127.0.0.1:1/mcp\",\n\"ca\":" + string(name) + "}}}"
}

func TestR3_FilesOfCertificates(t *testing.T) {
	own := nettest.SelfSigned(t)
	dir := filepath.Dir(own.Cert)
	path := filepath.Join(dir, "routing.json")
	for text, want := range map[string]string{
		ofCA(filepath.Base(own.Cert)): "",
		ofCA(own.Cert):                "",
		ofCA(""):                      "",
		ofCA("none.pem"):              "routing.json: line 2: routes.a.ca: cannot read certificates (PEM): stat " + filepath.Join(dir, "none.pem"),
		ofCA(filepath.Base(own.Key)):  "no certificate in " + own.Key,
		`{"routes":{"a":{"ca":7}}}`:   "must be a string",
		`{"routes":{"a":{"url":"http://x/","ca":"x"}}}`: "line 1, column 40: routes.a.ca applies only to a route with an https url",
		`{"routes":{"a":{"hostPort":1,"ca":"x"}}}`:      "applies only to a route with an https url",
		`{"routes":{"a":{"command":"x","ca":"x"}}}`:     "applies only to a route with an https url",

		`{"routes":{"a":{"url":"https://x/","clientCert":"none.pem"}}}`:      "line 1: routes.a.clientCert: cannot read the client certificate",
		`{"routes":{"a":{"url":"https://x/","clientKey":"x"}}}`:              "routes.a.clientKey needs clientCert",
		`{"routes":{"a":{"url":"http://x/","clientCert":"x"}}}`:              "routes.a.clientCert applies only to a route with an https url",
		`{"routes":{"a":{"hostPort":1,"insecure":true}}}`:                    "routes.a.insecure applies only to a route with an https url",
		`{"routes":{"a":{"url":"https://x/","insecure":true,"ca":"x"}}}`:     "routes.a.insecure cannot be with ca",
		`{"routes":{"a":{"url":"https://x/","proxy":"ftp://me:hunter2@h"}}}`: "routes.a.proxy is not the URL of a proxy",
		`{"routes":{"a":{"command":"x","proxy":"http://h:1"}}}`:              "routes.a.proxy applies only to a route with a url",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		tab, err := Load(path)
		if want == "" {
			if ca := tab.Routes["a"].CA; err != nil || len(tab.Warnings) > 0 || ca != own.Cert && text != ofCA("") {
				t.Errorf("%s: %q, %v", text, ca, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		own.Cert:                       "",
		"cert.pem":                     "ca is \"cert.pem\"; it must be an absolute path",
		filepath.Join(dir, "none.pem"): "ca: cannot read certificates (PEM)",
	} {
		name, _ := json.Marshal(text)
		r, err := ParseOne([]byte(`{"name":"a","url":"https://x/","ca":` + string(name) + `}`))
		if want == "" && (err != nil || r.CA != own.Cert) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v, want %q", text, r, err, want)
		}
	}
}

// Routes that need a file that is not there yet, or not yet what it is to be, come into force with it.
func TestC11_TheFileThatARouteNeedsIsFollowed(t *testing.T) {
	own := nettest.SelfSigned(t)
	dir := t.TempDir()
	path, ca := filepath.Join(dir, "routing.json"), filepath.Join(dir, "ca.pem")
	var h heard
	w, err := Watch(Options{Path: path, Changed: h.changed, Poll: 5 * time.Millisecond})
	require.NoError(t, err)
	defer w.Close()
	put := func(file, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file+".new", []byte(text), 0o600))
		require.NoError(t, os.Rename(file+".new", file))
	}
	until := func(says string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			err := w.Err()
			if says == "" && err == nil && w.Current().Routes["a"] != nil || says != "" && err != nil && strings.Contains(err.Error(), says) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%v, want %q", err, says)
			}
		}
	}
	put(path, `{"routes":{"b":{"hostPort":1}}}`)
	h.until(t, "in force", func(err error) bool { return err == nil && w.Current().Routes["b"] != nil })
	put(path, ofCA("ca.pem"))
	until("no such file")
	if w.Current().Routes["b"] == nil {
		t.Error("the last good routes are gone")
	}
	put(ca, "x")
	until("no certificate in " + ca)
	text, err := os.ReadFile(own.Cert)
	require.NoError(t, err)
	put(ca, string(text))
	until("")
}
