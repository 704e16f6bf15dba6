package peertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/process"
)

// Login is a small server of the TypeScript SDK that wants a login at oidc-provider, a certified authorization server. args are --dpop and
// --nonce: see testdata/peers/login.mjs.
func Login(t testing.TB, args ...string) config.Server {
	t.Helper()
	installed(t, "peers", filepath.Join("node_modules", "oidc-provider"))
	node := newNode(t)
	cmd := exec.Command(node, append([]string{installed(t, "peers", "login.mjs")}, args...)...)
	stderr := &tail{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	process.Group(cmd)
	require.NoError(t, cmd.Start())
	h := &HTTP{t: t, child: cmd, exited: make(chan struct{})}
	t.Cleanup(func() {
		h.Kill()
		if t.Failed() {
			t.Logf("login.mjs:\n%s", stderr)
		}
	})
	lines := bufio.NewReader(out)
	first := make(chan string, 1)
	go func() {
		line, _ := lines.ReadString('\n') // what is wrong is on stderr
		first <- line
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait()
		close(h.exited)
	}()
	var ready struct{ URL string }
	select {
	case line := <-first:
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			t.Fatalf("login.mjs: %v\n%s%s", err, line, stderr)
		}
	case <-time.After(startLimit):
		t.Fatalf("login.mjs is not ready after %v:\n%s", startLimit, stderr)
	}
	return config.Server{Name: "login", Transport: config.HTTP, URL: ready.URL}
}

// Ask asks a server of Login for one of the paths that it has beside its own, /expire or /revoked.
func Ask(t testing.TB, s config.Server, path string) (answer string) {
	t.Helper()
	answer, err := NewBrowser().Open(strings.TrimSuffix(s.URL, "/mcp") + path)
	require.NoError(t, err)
	return answer
}

// LoginExample is the example of the TypeScript SDK with the authorization server that comes with it: everybody is logged in at once.
func LoginExample(t testing.TB) config.Server {
	t.Helper()
	example := installed(t, "peers", filepath.Join("node_modules", "@modelcontextprotocol", "sdk", "dist", "esm", "examples", "server", "simpleStreamableHttp.js"))
	node := newNode(t)
	port, issuer := nettest.FreePort(t), nettest.FreePort(t)
	s := config.Server{Name: "simple-streamable-http-server", Transport: config.HTTP, URL: fmt.Sprintf("http://localhost:%d/mcp", port)}
	h := serve(t, port, s, func() *exec.Cmd {
		cmd := exec.Command(node, example, "--oauth", "--oauth-strict")
		cmd.Env = append(os.Environ(), "MCP_PORT="+strconv.Itoa(port), "MCP_AUTH_PORT="+strconv.Itoa(issuer))
		return cmd
	})
	other := *h // the same process
	other.port = issuer
	other.waitListening()
	return h.Server
}

// Browser plays the user of a browser: it opens a URL, and fills in the forms of oidc-provider until the program that is logged in to
// answers. It returns what that shows. Its cookies make it one user's.
type Browser struct{ client http.Client }

// NewBrowser is a browser that nobody has logged in with.
func NewBrowser() *Browser {
	jar, _ := cookiejar.New(nil) // never fails
	return &Browser{http.Client{Jar: jar, Timeout: startLimit}}
}

var (
	form  = regexp.MustCompile(`<form[^>]* action="([^"]*)" method="post">`)
	field = regexp.MustCompile(`<input[^>]* name="([^"]*)"[^>]*>`)
	given = regexp.MustCompile(` value="([^"]*)"`)
)

// Open opens a URL and returns the page that it ends at.
func (b *Browser) Open(at string) (page string, err error) {
	resp, err := b.client.Get(at)
	const forms = 5 // one to log in, one to consent
	for range forms {
		if err != nil {
			return "", err
		}
		raw, bad := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if bad != nil {
			return "", bad
		}
		page = string(raw)
		f := form.FindStringSubmatch(page)
		if f == nil {
			if resp.StatusCode >= http.StatusBadRequest {
				return page, fmt.Errorf("%s answers with %s: %s", resp.Request.URL.Redacted(), resp.Status, page)
			}
			return page, nil
		}
		to, bad := resp.Request.URL.Parse(html.UnescapeString(f[1]))
		if bad != nil {
			return page, bad
		}
		values := url.Values{}
		for _, in := range field.FindAllStringSubmatch(page, -1) {
			values.Set(in[1], "ann")
			if v := given.FindStringSubmatch(in[0]); v != nil {
				values.Set(in[1], html.UnescapeString(v[1]))
			}
		}
		resp, err = b.client.PostForm(to.String(), values)
	}
	if err != nil {
		return page, err
	}
	_ = resp.Body.Close()
	return page, errors.New("one form follows another")
}
