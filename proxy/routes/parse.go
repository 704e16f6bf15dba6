package routes

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/certs"
)

const (
	maxTimeout = 24 * time.Hour // of a route
	maxRoutes  = 10_000         // of one table
	maxRate    = 1_000_000_000  // requests a minute
	topFields  = `"port", "tokens", "sessionKey", "cluster", "websocket", "sse", "prefix", "clients" and "routes"`
)

// Parse reads a routing.json. What is not known in it is a warning; what is wrong is an error that names the line, and then
// nothing of the file counts. Paths in it stay as they are.
func Parse(text []byte) (*Table, error) {
	root, err := document(text, topFields)
	if err != nil {
		return nil, err
	}
	t := &Table{Routes: map[string]*Route{}, Lines: map[string]int{}}
	own := func(name string, set func(value)) func(value) {
		return func(v value) { t.Lines[name] = v.line(); set(v) }
	}
	root.object(map[string]func(value){
		"$schema":    func(value) {}, // for editors
		"port":       own("port", func(v value) { t.Port = v.number(0, 65535) }),
		"tokens":     own("tokens", func(v value) { t.Tokens = v.text() }),
		"sessionKey": own("sessionKey", func(v value) { t.SessionKey = v.text() }),
		"cluster":    own("cluster", func(v value) { t.Cluster = v.text() }),
		"websocket":  own("websocket", func(v value) { t.WebSocket = v.bool() }),
		"sse":        own("sse", func(v value) { t.SSE = v.bool() }),
		"prefix":     own("prefix", func(v value) { t.Merged.Prefix = v.prefix() }),
		"separator":  func(v value) { t.Merged.Separator = v.separator() },
		"include":    func(v value) { t.Merged.Include = v.patterns(true) },
		"exclude":    func(v value) { t.Merged.Exclude = v.patterns(true) },
		"clients":    func(v value) { t.Merged.Clients = v.clients() },
		"routes": func(v value) {
			v.each(func(name string, v value) { t.add(name, v) })
		},
	})
	t.Warnings = root.d.warnings
	if root.d.err != nil {
		return nil, root.d.err
	}
	return t, nil
}

// ParseOne reads one route, an object with what a route of a routing.json has and its name. It has no file whose other readers
// may know more: what is not known in it is an error. A relative cwd or ca is one too, for there is no folder that it could be
// relative to, and a ca that has no certificate.
func ParseOne(text []byte) (*Route, error) {
	root, err := document(text, `"name" and what a route has`)
	if err != nil {
		return nil, err
	}
	root.what = "server"
	named := ""
	root.each(func(key string, v value) {
		if key == "name" {
			named = v.text()
		}
	})
	t := &Table{Routes: map[string]*Route{}}
	if named == "" {
		root.fail(`has no name; give it as "name"`)
	} else {
		t.add(named, root, "name")
	}
	switch r := t.Routes[named]; {
	case root.d.err != nil:
		return nil, root.d.err
	case len(root.d.warnings) > 0:
		return nil, root.d.warnings[0]
	case r.Cwd != "" && !filepath.IsAbs(r.Cwd):
		return nil, fmt.Errorf("cwd is %q; it must be an absolute path", clip(r.Cwd))
	case r.Sandbox != nil && slices.ContainsFunc(append(slices.Clone(r.Sandbox.Read), r.Sandbox.Write...), func(p string) bool { return !filepath.IsAbs(p) }):
		return nil, errors.New("sandbox names a relative path; it must be an absolute one")
	case r.Registered || r.Shared:
		return nil, errors.New("registered and shared apply only to a route of a file")
	case r.OAuth != nil && !r.OAuth.Resolved():
		return nil, errors.New("oauth names a file by a relative path; it must be an absolute one")
	default:
		for i, p := range r.files() {
			if *p != "" && !filepath.IsAbs(*p) {
				return nil, fmt.Errorf("%s is %q; it must be an absolute path", []string{"ca", "clientCert", "clientKey"}[i], clip(*p))
			}
		}
		if key, err := r.checkCertificates(); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return r, nil
	}
}

// checkCertificates reports a certificate file that cannot be used, and the key that names it.
func (r *Route) checkCertificates() (key string, err error) {
	if r.CA != "" {
		if _, err := certs.Open(r.CA); err != nil {
			return "ca", err
		}
	}
	if r.ClientCert != "" {
		_, err = certs.Client(r.ClientCert, r.ClientKey)
	}
	return "clientCert", err
}

// document checks that a text is a JSON object.
func document(text []byte, fields string) (root value, err error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return root, errors.New("not valid UTF-8")
	}
	d := &decoder{text: text}
	if err := jsonrpc.Valid(text); err != nil {
		var syntax *jsonrpc.SyntaxError
		if errors.As(err, &syntax) {
			return root, d.problem(min(syntax.Offset, len(text)), "not valid JSON: "+syntax.Reason)
		}
		return root, fmt.Errorf("not valid JSON: %w", err)
	}
	at := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	root = value{d: d, at: at, raw: text[at:]}
	if root.raw[0] != '{' {
		return root, d.problem(at, fmt.Sprintf("it is %s; it must be an object with %s", kind(root.raw), fields))
	}
	return root, nil
}

// add reads a route; others are members that other code reads. What members are together is judged once all are read, for they may come in any
// order: the values beside r are kept for the place that such an error names.
func (t *Table) add(name string, v value, others ...string) {
	switch {
	case !config.ValidName(name):
		v.fail("is not a valid agent name: %s", config.NameRule)
		return
	case len(t.Routes) == maxRoutes:
		v.fail("is one route too many: the maximum is %d", maxRoutes)
		return
	}
	r := &Route{Name: name, Timeout: DefaultTimeout, Session: PerSession, Transport: Auto}
	var given []string // kinds of upstream
	ofCommand := map[string]value{}
	var ca, transport, login, urls, network, certificate, shared, sandbox value
	kindOf := func(name string, set func(value)) func(value) {
		return func(v value) { given = append(given, name); set(v) }
	}
	command := func(name string, set func(value)) func(value) {
		return func(v value) { ofCommand[name] = v; set(v) }
	}
	known := map[string]func(value){
		"hostPort": kindOf("hostPort", func(v value) { r.HostPort = v.number(1, 65535) }),
		"url":      kindOf("url", func(v value) { r.URL, r.Socket = v.endpoint() }),
		"urls":     kindOf("urls", func(v value) { urls = v; v.urls(r) }),
		"registered": func(v value) {
			if r.Registered = v.bool(); r.Registered {
				given = append(given, "registered")
				r.Transport = HTTP
			}
		},
		"ca": func(v value) { r.CA, ca = v.text(), v },
		"proxy": func(v value) {
			if r.Proxy, network = v.text(), v; config.CheckProxy(r.Proxy) != nil {
				v.fail("is not the URL of a proxy; write http://HOST:PORT, https://…, socks5://… or none")
			}
		},
		"clientCert": func(v value) { r.ClientCert, certificate = v.text(), v },
		"clientKey":  func(v value) { r.ClientKey, certificate = v.text(), v },
		"insecure":   func(v value) { r.Insecure, certificate = v.bool(), v },
		"transport":  func(v value) { r.Transport, transport = v.transport(), v },
		"command":    kindOf("command", func(v value) { r.Command = v.command() }),
		"args":       command("args", func(v value) { r.Args = v.list() }),
		"env":        command("env", func(v value) { r.Env = v.env() }),
		"cwd":        command("cwd", func(v value) { r.Cwd = v.text() }),
		"sandbox":    func(v value) { r.Sandbox, sandbox = v.sandbox(), v },
		"session":    command("session", func(v value) { r.Session = v.mode() }),
		"shared":     func(v value) { r.Shared, shared = v.bool(), v },
		"disabled":   func(v value) { r.Disabled = v.bool() },
		"headers":    func(v value) { r.Headers = v.headers() },
		"oauth":      func(v value) { r.OAuth, login = v.oauth(), v },
		"timeout":    func(v value) { r.Timeout = v.duration(maxTimeout) },
		"stream":     func(v value) { r.Stream = v.bool() },
		"methods":    func(v value) { r.Methods = v.list() },
		"tools":      func(v value) { r.Tools = v.list() },
		"waitReady":  func(v value) { r.WaitReady = v.duration(time.Hour) },
		"rateLimit":  func(v value) { r.RateLimit = v.number(0, maxRate) },
		"fault":      func(v value) { r.fault(v) },
		"include":    func(v value) { r.Include = v.patterns(false) },
		"exclude":    func(v value) { r.Exclude = v.patterns(false) },
	}
	for _, o := range others {
		known[o] = func(value) {}
	}
	v.object(known)
	switch {
	case len(given) == 0:
		v.fail("has no upstream: give hostPort, url, urls, command or registered")
	case len(given) > 1:
		v.fail("has %s: give exactly one of hostPort, url, urls, command and registered", strings.Join(given, " and "))
	case len(r.URLs) > 0 && r.OAuth != nil:
		login.fail("applies only to a route with one url")
	case len(r.URLs) > 0 && slices.ContainsFunc(r.URLs, func(u *url.URL) bool { return u.Scheme != r.URL.Scheme || u.User.String() != r.URL.User.String() }):
		urls.fail("must agree in their scheme and user")
	case r.Shared && (r.Command != "" || r.OAuth != nil):
		shared.fail("cannot be with a command or oauth: others would be asked in its place")
	case r.Sandbox != nil && r.Command == "":
		sandbox.fail("applies only to a route with a command")
	case r.CA != "" && (r.URL == nil || r.URL.Scheme != "https"):
		ca.fail("applies only to a route with an https url")
	case (r.ClientCert != "" || r.ClientKey != "" || r.Insecure) && (r.URL == nil || r.URL.Scheme != "https"):
		certificate.fail("applies only to a route with an https url")
	case r.CA != "" && r.Insecure:
		certificate.fail("cannot be with ca: leave one of both out")
	case r.ClientKey != "" && r.ClientCert == "":
		certificate.fail("needs clientCert")
	case r.Proxy != "" && r.URL == nil:
		network.fail("applies only to a route with a url")
	case r.URL == nil && transport.d != nil:
		transport.fail("applies only to a route with a url")
	case r.OAuth != nil && r.URL == nil && r.Command == "":
		login.fail("applies only to a route with a url or a command")
	case r.Command != "" && r.Server().CheckToken() != nil:
		v.fail("cannot be: %v", r.Server().CheckToken())
	case r.OAuth != nil && r.Command != "" && !r.Server().NeedsToken():
		login.fail("of a command must say where the login is: give auth_url and token_url, or metadata_url, and a variable in env that is %s", config.TokenReference)
	case r.OAuth != nil && r.Command != "" && (r.OAuth.DPoP || r.OAuth.Grant == config.GrantEnterprise):
		login.fail("of a command cannot have dpop, or the grant %s", config.GrantEnterprise)
	case r.OAuth != nil && r.URL != nil && (r.URL.User != nil || r.Headers["Authorization"] != nil):
		login.fail("cannot be: the route has credentials in its headers or url; give one of both")
	case r.Command == "":
		for name, v := range ofCommand {
			v.warn("is ignored: %s applies only to a route with a command", name)
		}
	}
	t.Routes[name] = r
	for key, at := range map[string]value{"ca": ca, "clientCert": certificate} {
		if at.d != nil && t.Lines != nil {
			t.Lines["routes."+name+"."+key] = at.line()
		}
	}
}

// endpoint is a URL, or one of a Unix socket.
func (v value) endpoint() (*url.URL, string) {
	if s := v.text(); strings.HasPrefix(s, "unix://") || strings.HasPrefix(s, "http+unix://") {
		u, socket, err := config.Endpoint(s)
		if err != nil {
			v.fail("%v", err)
		}
		return u, socket
	}
	return v.url(), ""
}

func (v value) url() *url.URL {
	s := v.text()
	u, err := url.Parse(s)
	if v.d.err == nil && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" || u.Opaque != "") {
		v.fail("is not a valid http or https URL such as http://127.0.0.1:7000/mcp")
		return nil
	}
	return u
}

// urls reads the upstreams of a route, at least one.
func (v value) urls(r *Route) {
	seen := map[string]bool{}
	for _, s := range v.list() {
		if u := (value{v.d, v.what, v.at, jsonrpc.Quote(s)}).url(); u != nil && !seen[u.String()] {
			seen[u.String()], r.URLs = true, append(r.URLs, u)
		}
	}
	switch {
	case v.d.err != nil:
	case len(r.URLs) == 0 || len(r.URLs) > maxReplicas:
		v.fail("has %d URLs; it must have from 1 to %d", len(r.URLs), maxReplicas)
	case len(r.URLs) == 1:
		r.URL, r.URLs = r.URLs[0], nil
	default:
		r.URL = r.URLs[0]
	}
}

func (v value) command() string {
	s := v.text()
	if s == "" || strings.ContainsRune(s, 0) {
		v.fail("is empty or contains a NUL: give the program here and its arguments in args")
	}
	return s
}

// oauth reads a block like that of a server in a configuration.
func (v value) oauth() *config.OAuth {
	o := &config.OAuth{}
	given := map[*string]bool{}
	v.each(func(key string, v value) {
		text := o.Text(key)
		switch {
		case v.raw[0] == 'n':
		case given[text]:
			v.fail("is given twice, by two names")
		case text != nil:
			*text, given[text] = v.text(), true
		case key == "scopes":
			o.Scopes = v.list()
		case key == "dpop":
			o.DPoP = v.bool()
		default:
			v.warn("is unknown and ignored")
		}
	})
	if o.Grant != "" && !slices.Contains(config.OAuthGrants(), o.Grant) {
		v.fail("has an unknown grant; it must be one of %s", strings.Join(config.OAuthGrants(), ", "))
	}
	return o
}

// sandbox reads what a command may do. What is unknown in it is an error: it would not be enforced.
func (v value) sandbox() *confine.Rules {
	switch v.raw[0] {
	case 't', 'f':
		if v.bool() {
			return &confine.Rules{}
		}
		return nil
	case '{':
	default:
		v.fail("is %s; it must be true, false, or an object with read, write and network", kind(v.raw))
		return nil
	}
	r := &confine.Rules{}
	v.each(func(key string, v value) {
		switch key {
		case confine.Read:
			r.Read = v.list()
		case confine.Write:
			r.Write = v.list()
		case confine.Network:
			r.Network = v.bool()
		default:
			v.fail("is nothing that a sandbox can enforce: it has read, write and network")
		}
	})
	if err := r.Check(); err != nil {
		v.fail("cannot be: %v", err)
	}
	return r
}

func (v value) mode() Mode {
	m := Mode(v.text())
	if m != PerSession && m != Shared {
		v.fail("is %q; it must be %q or %q", clip(string(m)), PerSession, Shared)
	}
	return m
}

func (v value) transport() Transport {
	t := Transport(v.text())
	if t != Auto && t != HTTP && t != SSE {
		v.fail("is %q; it must be %q, %q or %q", clip(string(t)), Auto, HTTP, SSE)
	}
	return t
}

func (v value) env() map[string]string {
	env := map[string]string{}
	v.each(func(key string, v value) {
		s := v.text()
		if key == "" || strings.ContainsAny(key, "=\x00") || strings.ContainsRune(s, 0) {
			v.fail("is not a valid variable: names must not contain =, and neither names nor values a NUL")
		}
		env[key] = s
	})
	return env
}

// reserved are headers that the forwarder sets itself, or that belong to one request.
var reserved = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Keep-Alive", "Mcp-Method", "Mcp-Name",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcphud-Hops", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func (v value) headers() http.Header {
	h := http.Header{}
	v.each(func(key string, v value) {
		s, name := v.text(), http.CanonicalHeaderKey(key)
		switch {
		case !httpguts.ValidHeaderFieldName(key) || !httpguts.ValidHeaderFieldValue(s):
			v.fail("is not a valid header: forbidden characters in its name or value")
		case slices.Contains(reserved, name):
			v.fail("cannot be set: it is the router's own")
		case h[name] != nil:
			v.fail("is given twice")
		}
		h[name] = []string{s}
	})
	return h
}

func (r *Route) fault(v value) {
	delayed := false
	v.object(map[string]func(value){
		"delay":          func(v value) { r.Fault.Delay = v.duration(5 * time.Minute) },
		"delayPercent":   func(v value) { r.Fault.DelayPercent, delayed = v.percent(), true },
		"dropPercent":    func(v value) { r.Fault.DropPercent = v.percent() },
		"errorPercent":   func(v value) { r.Fault.ErrorPercent = v.percent() },
		"partialPercent": func(v value) { r.Fault.PartialPercent = v.percent() },
		"seed":           func(v value) { r.Fault.Seed = uint64(v.number(0, 1<<31-1)) },
	})
	if r.Fault.Delay > 0 && !delayed {
		r.Fault.DelayPercent = 100
	}
	if err := r.Fault.Check(); err != nil {
		v.fail("cannot be: %v", err)
	}
}

// resolve makes the paths in the table independent of the working directory: they are relative to the file's folder.
func (t *Table) resolve(folder string) {
	for _, p := range []*string{&t.Tokens, &t.SessionKey} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(folder, *p)
		}
	}
	for _, r := range t.Routes {
		for _, p := range r.files() {
			if *p != "" && !filepath.IsAbs(*p) {
				*p = filepath.Join(folder, *p)
			}
		}
		if r.OAuth != nil {
			r.OAuth.Resolve(folder)
		}
		if r.Sandbox != nil {
			home, _ := os.UserHomeDir() // without one, ~ is a name
			r.Sandbox.Resolve(folder, home)
		}
		if r.Command != "" && r.Cwd != "" && !filepath.IsAbs(r.Cwd) {
			r.Cwd = filepath.Join(folder, r.Cwd)
		}
	}
}
