package auth_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
	"golang.org/x/net/dns/dnsmessage"
)

// networked is a session at a server in memory, whose authorizer uses the network.
func networked(t *testing.T, k authtest.Knobs) *session.Session {
	srv := authtest.Memory(t, k)
	_, s := sessiontest.Register(t, session.Options{Auth: &auth.Options{}, Transport: transport.Options{Via: srv.HTTP}}, srv.Config())
	if err := s.Connect(t.Context()); err == nil {
		t.Fatal("connected without a login")
	}
	return s
}

// listener counts who connects.
func listener(t *testing.T, serve func(net.Conn)) (port int, connected *atomic.Int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	connected, done := &atomic.Int64{}, make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			serve(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().(*net.TCPAddr).Port, connected
}

// A public name that stands for an address of this machine is found out when it is looked up, before anything is sent there.
func TestNameOfThisMachine(t *testing.T) {
	resolve(t, [4]byte{127, 0, 0, 1})
	port, connected := listener(t, func(net.Conn) {})
	s := networked(t, authtest.Knobs{Challenges: []string{fmt.Sprintf(`Bearer resource_metadata="https://rebind.example.com:%d/"`, port)}})
	for _, agrees := range []bool{false, true} {
		p := &authtest.Person{Agrees: agrees}
		err := s.Authorizer().Login(t.Context(), p, auth.LoginOptions{})
		if asked := p.Asked(); err == nil || len(asked) != 1 || !strings.Contains(asked[0], "rebind.example.com") || !strings.Contains(asked[0], "127.0.0.1") {
			t.Errorf("asked %q, then %v", asked, err)
		}
		if got := connected.Load() > 0; got != agrees {
			t.Errorf("%d connections where the answer was %v", connected.Load(), agrees)
		}
	}
	if _, err := s.Authorizer().Discover(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "127.0.0.1") || connected.Load() != 1 {
		t.Errorf("without a person: %v", err)
	}
}

// resolve makes every name stand for one address, until the test ends.
func resolve(t *testing.T, ip [4]byte) {
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer func() { _ = theirs.Close() }()
			for lookup(theirs, ip) == nil {
			}
		}()
		return ours, nil
	}}
}

// lookup answers one question of a stream (RFC 1035 section 4.2.2).
func lookup(c net.Conn, ip [4]byte) error {
	var size uint16
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(b); err != nil {
		return err
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: ip}}}
	}
	b, err := m.AppendPack([]byte{0, 0})
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(b, uint16(len(b)-2))
	_, err = c.Write(b)
	return err
}

// Behind a proxy it is the proxy that looks names up: that it is on this machine itself says nothing of them.
func TestProxyOfThisMachine(t *testing.T) {
	const env = "MCPHUD_TEST_PROXIED"
	if os.Getenv(env) == "" {
		var asked atomic.Pointer[string]
		port, _ := listener(t, func(c net.Conn) {
			line, err := bufio.NewReader(c).ReadString('\n')
			if err == nil {
				asked.Store(&line)
			}
			_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		})
		// net/http reads these variables once in a process.
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxyOfThisMachine$")
		cmd.Env = append(os.Environ(), env+"=1", fmt.Sprintf("HTTPS_PROXY=http://127.0.0.1:%d", port), "NO_PROXY=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if line := asked.Load(); line == nil || !strings.HasPrefix(*line, http.MethodConnect+" meta.example.com:443 ") {
			t.Errorf("the proxy was not asked: %v", line)
		}
		return
	}
	s := networked(t, authtest.Knobs{Challenges: []string{`Bearer resource_metadata="https://meta.example.com/"`}})
	p := &authtest.Person{}
	err := s.Authorizer().Login(t.Context(), p, auth.LoginOptions{})
	if err == nil || !strings.Contains(err.Error(), "Bad Gateway") || len(p.Asked()) != 0 {
		t.Errorf("asked %q, then %v", p.Asked(), err)
	}
}

// A server whose name stands for an address of this network is asked about itself without a question, also where nobody is there.
func TestServerOfThisNetwork(t *testing.T) {
	resolve(t, [4]byte{127, 0, 0, 1})
	port, connected := listener(t, func(net.Conn) {})
	a := auth.New(config.Server{Name: "intranet", URL: fmt.Sprintf("https://mcp.corp.example:%d/mcp", port)}, auth.Options{})
	for _, p := range []auth.Person{nil, &authtest.Person{}} {
		before := connected.Load()
		if _, err := a.Discover(t.Context(), p); err == nil || strings.Contains(err.Error(), "sends to") || connected.Load() == before {
			t.Errorf("%d connections: %v", connected.Load()-before, err)
		}
	}
}

// The file that vouches for a server does so where it is asked about itself, and for no other host.
func TestServerWithItsOwnCertificate(t *testing.T) {
	own := nettest.SelfSigned(t)
	for host, want := range map[string]string{"127.0.0.1": "there is no authorization-server metadata", "localhost": "certificate"} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
				http.NotFound(w, r)
				return
			}
			_, port, _ := strings.Cut(r.Host, ":")
			_, _ = fmt.Fprintf(w, `{"resource":"https://%s/mcp","authorization_servers":["https://%s:%s"]}`, r.Host, host, port)
		}))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		a := auth.New(config.Server{Name: "own", URL: srv.URL + "/mcp", CA: own.Cert}, auth.Options{})
		if _, err := a.Discover(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("an authorization server at %s: %v", host, err)
		}
	}
}

// Where no certificate is checked nothing secret is sent before somebody has agreed to it, and nothing where nobody is asked.
func TestUncheckedServer(t *testing.T) {
	var posted atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "https://" + r.Host
		switch {
		case r.Method == http.MethodPost:
			posted.Add(1)
			w.WriteHeader(http.StatusBadRequest)
		case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
			_, _ = fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, base+"/mcp", base)
		default:
			_, _ = fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"registration_endpoint":%q,"response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}`,
				base, base+"/authorize", base+"/token", base+"/register")
		}
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		person auth.Person
		posts  int64
		words  string
	}{
		{&authtest.Person{}, 0, "is not checked, so no secret is sent"},
		{&authtest.Person{Agrees: true}, 1, ""},
	} {
		a := auth.New(config.Server{Name: "unchecked", URL: srv.URL + "/mcp", Insecure: true}, auth.Options{})
		err := a.Login(t.Context(), c.person, auth.LoginOptions{})
		if err == nil || !strings.Contains(err.Error(), c.words) || posted.Load() != c.posts {
			t.Errorf("%d requests: %v", posted.Load(), err)
		}
		if asked := c.person.(*authtest.Person).Asked(); len(asked) != 1 || !strings.Contains(asked[0], "anybody on the way can lead this login elsewhere") {
			t.Errorf("asked %q", asked)
		}
	}
	machine := auth.New(config.Server{Name: "unchecked", URL: srv.URL + "/mcp", Insecure: true, OAuth: &config.OAuth{
		Grant: "client_credentials", ClientID: "me", ClientSecret: "t0p-secret",
	}}, auth.Options{})
	if err := machine.Login(t.Context(), nil, auth.LoginOptions{}); err == nil || !strings.Contains(err.Error(), "so no secret is sent") || posted.Load() != 1 {
		t.Errorf("without a person, %d requests: %v", posted.Load(), err)
	}
}
