package config

import (
	"slices"
	"strings"
)

// decideTransport settles Server.Transport from the name given, or from what the entry has.
func (e *entry) decideTransport() {
	field := "type"
	if _, ok := e.at["transport"]; ok {
		field = "transport"
	}
	switch given := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(e.given)); {
	case given == "":
		switch {
		case e.Command != "" && e.URL != "" && !e.Launch:
			e.problem("url", "the entry has both command and url; say which with type")
		case e.URL != "":
			e.Transport = TransportOf(e.URL)
		default:
			e.Transport = Stdio
		}
	case given == HTTP:
		e.Transport = e.dialect.http
	case given == "streamablehttp":
		e.Transport = HTTP
	case given == "websocket", given == "wss":
		e.Transport = WS
	case given == Stdio, slices.Contains(URLTransports(), given):
		e.Transport = given
	default:
		e.problem(field, "%q is not a transport; write stdio, %s", clip(e.given), strings.Join(URLTransports(), ", "))
	}
}

// check refuses values that cannot be passed on as they are: a NUL ends a C
// string early, a line break in a header starts another header.
func (e *entry) check() {
	if len(e.problems) == 0 {
		switch {
		case e.Launch && (e.Command == "" || e.URL == ""):
			e.problem("launch", "to start a server that serves a url takes a command and the url")
		case e.Launch && !slices.Contains([]string{Auto, HTTP, SSE}, e.Transport):
			e.problem("launch", "a server that is started to serve a url speaks http or sse, not %s", e.Transport)
		case e.Transport == Stdio && e.Command == "":
			e.problem("command", "nothing to start: the entry has no command and no url")
		case e.Transport != Stdio && e.URL == "":
			e.problem("url", "the entry has no url to connect to")
		}
	}
	e.noNUL("command", e.Command)
	e.noNUL("cwd", e.Cwd)
	e.checkSandbox()
	for i, a := range e.Args {
		e.noNUL(index("args", i), a)
	}
	e.checkHelper()
	for _, k := range sortedKeys(e.Env) {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			e.problem("env", "%q cannot be the name of a variable", clip(k))
		}
		e.noNUL("env."+k, e.Env[k])
	}
	for _, k := range sortedKeys(e.Headers) {
		if !headerName(k) {
			e.problem("headers", "%q cannot be the name of a header", clip(k))
		}
		if !headerValue(e.Headers[k]) {
			e.problem("headers."+k, "the value has a line break or NUL in it")
		}
	}
	if e.URL != "" && (len(e.Inputs) == 0 || !strings.Contains(e.URL, "${")) {
		e.checkURL()
	}
	e.checkOAuth()
	if err := CheckProxy(e.Proxy); err != nil {
		e.problem("proxy", "%v", err)
	}
	if err := e.checkNetwork(); err != nil {
		e.problem("", "%v", err)
	}
}

// noNUL refuses a value that a C string would cut short: the process would be started with something else than is shown.
func (e *entry) noNUL(field, value string) {
	if strings.IndexByte(value, 0) >= 0 {
		e.problem(field, "has a NUL byte in it")
	}
}

// checkURL never quotes the URL: it may carry a token.
func (e *entry) checkURL() {
	if _, _, err := Endpoint(e.URL); err != nil {
		e.problem("url", "%v; write http://host:port/path or https://…", err)
	}
}

// HeaderFits reports whether a header can be sent as it is.
func HeaderFits(name, value string) bool { return headerName(name) && headerValue(value) }

// headerValue reports whether a value ends no header and begins none.
func headerValue(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

// headerName is RFC 9110's token.
func headerName(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
