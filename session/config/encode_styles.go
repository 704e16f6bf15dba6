package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// variables is how a dialect writes the variables of the environment.
type variables int

const (
	inShell     variables = iota // ${NAME} and ${NAME:-default}
	inEditor                     // ${env:NAME}, and names of the editor's own
	inEnv                        // ${env:NAME}
	inBraces                     // {env:NAME}
	inSecrets                    // ${{ secrets.NAME }}
	literalText                  // none
)

// references are what variables look like. A file of ours, and one of unknown origin, is taken to mean an editor's as well.
var references = map[variables]func() *regexp.Regexp{
	inShell:   lazily(`\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?)\}`),
	inEditor:  lazily(`\$\{(?:env:([^}]+)|((?:input|config|command|workspaceFolder):[^}]+|userHome|workspaceFolder|workspaceFolderBasename|cwd|pathSeparator|/))\}`),
	inEnv:     lazily(`\$\{env:([^}]+)\}`),
	inBraces:  lazily(`\{env:([^}]+)\}`),
	inSecrets: lazily(`\$\{\{\s*secrets\.([^}\s]+)\s*\}\}`),
}

// reference takes a match of references apart: a variable and ":-" with its default, or a name of the editor's own.
func reference(in variables, m []string) (name, def, own string) {
	switch in {
	case inShell:
		if m[1] != "" {
			return m[1], "", ""
		}
		return m[2], m[3], ""
	case inEditor:
		return m[1], "", m[2]
	}
	return m[1], "", ""
}

// style is how a dialect writes an entry.
type style struct {
	format    string            // the end of a file's name; "" = json
	head      string            // what a new file begins with
	list      bool              // entries are elements of a list, with a name
	names     map[string]string // what it calls a field of ours, of those it has; nil: all, as we do
	types     map[string]string // its name for a transport, of those it has; "": it writes none
	typeKey   string            // "" = type
	oauth     map[string]string // names for an oauth block, with nil as ours
	unit      time.Duration     // what a number of a time limit counts; 0 for a text such as 30s
	variables variables
	off, on   rewrite.Member // what says that a server is not to be used; what every other entry has, or nothing
	own       func(s *Server, t *translation) rewrite.Object
}

var (
	justURL   = map[string]string{Stdio: "", HTTP: "", SSE: "", Auto: ""}
	typed     = map[string]string{Stdio: "", HTTP: "http", SSE: "sse", Auto: "http"}
	typedAll  = map[string]string{Stdio: Stdio, HTTP: "http", SSE: "sse", Auto: "http"}
	disabled  = rewrite.Member{Key: "disabled", Value: true}
	isOff     = rewrite.Member{Key: "enabled", Value: false}
	isOn      = rewrite.Member{Key: "enabled", Value: true}
	camelAuth = map[string]string{"client_id": "clientId", "client_secret": "clientSecret", "scopes": "scopes", "auth_url": "authorizationUrl", "token_url": "tokenUrl", "redirect_uri": "redirectUri"}
)

// keep is a map of fields that are called as we call them, and of others by pairs.
func keep(fields string, renamed ...string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(fields) {
		m[f] = f
	}
	for i := 0; i < len(renamed); i += 2 {
		m[renamed[i]] = renamed[i+1]
	}
	return m
}

// style is how entries of the dialect are written.
func (d *Dialect) style() *style {
	switch d.Name {
	case "mcphud":
		return &style{
			format: "yaml", off: isOff, head: "# Servers of mcphud. mcphud help servers says what an entry can have.\n",
			types: map[string]string{Stdio: "", HTTP: "streamable-http", SSE: SSE, WS: "", Auto: ""},
		}
	case "claude-code":
		return &style{
			names: keep("command args env url headers headersHelper oauth"), types: typed,
			oauth: map[string]string{"client_id": "clientId", "metadata_url": "authServerMetadataUrl", "scopes": "scopes"},
		}
	case "claude-desktop":
		return &style{names: keep("command args env url headers"), types: typed, typeKey: "transport", variables: literalText}
	case "cursor":
		return &style{
			names: keep("command args env envFile url headers", "oauth", "auth"), types: justURL, variables: inEditor,
			oauth: map[string]string{"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET", "scopes": "scopes"},
		}
	case "vscode":
		return &style{names: keep("command args env envFile cwd url headers"), types: typedAll, variables: inEditor}
	case "windsurf":
		return &style{names: keep("command args env headers", "url", "serverUrl"), types: justURL, variables: inEnv, off: disabled}
	case "zed":
		return &style{names: keep("command args env url headers"), types: map[string]string{Stdio: "", HTTP: "", Auto: ""}, variables: literalText, off: isOff}
	case "gemini":
		return &style{
			names: keep("command args env cwd headers timeout url oauth", "http", "httpUrl"), types: justURL, unit: time.Millisecond, oauth: camelAuth, own: ownGemini,
		}
	case "continue":
		return &style{
			format: "yaml", head: "name: Servers\nversion: 0.0.1\nschema: v1\n", list: true, names: keep("command args env cwd url", "headers", "requestOptions", "connect_timeout", "connectionTimeout"),
			types: map[string]string{Stdio: Stdio, HTTP: "streamable-http", SSE: SSE, Auto: "streamable-http"}, unit: time.Millisecond, variables: inSecrets,
		}
	case "codex":
		return &style{
			format: "toml", names: keep("command args env cwd url", "headers", "http_headers", "timeout", "tool_timeout_sec", "connect_timeout", "startup_timeout_sec"),
			types: map[string]string{Stdio: "", HTTP: "", Auto: ""}, unit: time.Second, variables: literalText, off: isOff, own: ownCodex,
		}
	case "opencode":
		return &style{
			names: keep("url headers oauth", "env", "environment", "connect_timeout", "timeout"), types: map[string]string{Stdio: "local", HTTP: "remote", SSE: "remote", Auto: "remote"},
			oauth: map[string]string{"client_id": "clientId", "client_secret": "clientSecret", "scopes": "scope"}, unit: time.Millisecond, variables: inBraces, off: isOff, on: isOn, own: ownOpenCode,
		}
	case "cline":
		return &style{
			names: keep("command args env cwd url headers timeout"), types: map[string]string{Stdio: "", HTTP: "streamableHttp", SSE: SSE, Auto: "streamableHttp"},
			unit: time.Second, variables: inEnv, off: disabled,
		}
	case "goose":
		return &style{
			format: "yaml", names: keep("args headers timeout", "command", "cmd", "env", "envs", "url", "uri"),
			types: map[string]string{Stdio: Stdio, HTTP: "streamable_http", SSE: SSE, Auto: "streamable_http"}, unit: time.Second, off: isOff, on: isOn, own: ownGoose,
		}
	case "inspector":
		return &style{
			names: keep("command args env cwd url headers", "timeout", "requestTimeout", "connect_timeout", "connectionTimeout"), unit: time.Millisecond,
			types: map[string]string{Stdio: Stdio, HTTP: "streamable-http", SSE: SSE, Auto: "streamable-http"}, variables: literalText,
		}
	}
	return &style{names: keep("command args env envFile cwd url headers headersHelper oauth"), types: map[string]string{Stdio: "", HTTP: "http", SSE: "sse", WS: "ws", Auto: ""}, off: disabled}
}

// ownGemini writes a Streamable HTTP server by another member than one of HTTP+SSE.
func ownGemini(s *Server, t *translation) (o rewrite.Object) {
	if s.URL != "" && s.Transport != SSE {
		o = append(o, rewrite.Member{Key: "httpUrl", Value: t.text("url", s.URL)})
		s.URL = ""
	}
	return o
}

// ownOpenCode writes the command and its arguments as one list.
func ownOpenCode(s *Server, t *translation) (o rewrite.Object) {
	if s.Command != "" {
		argv := []any{t.text("command", s.Command)}
		for i, a := range s.Args {
			argv = append(argv, t.text(index("args", i), a))
		}
		o = append(o, rewrite.Member{Key: "command", Value: argv})
		s.Command, s.Args = "", nil
	}
	return o
}

// ownCodex writes variables where Codex has members that name them.
func ownCodex(s *Server, t *translation) (o rewrite.Object) {
	names := s.inherited(t)
	headers := rewrite.Object{}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		bearer, isBearer := strings.CutPrefix(s.Headers[k], "Bearer ")
		if name, ok := t.variable(bearer); ok && isBearer && strings.EqualFold(k, "Authorization") {
			o = append(o, rewrite.Member{Key: "bearer_token_env_var", Value: name})
			delete(s.Headers, k)
		} else if name, ok := t.variable(s.Headers[k]); ok {
			headers = append(headers, rewrite.Member{Key: k, Value: name})
			delete(s.Headers, k)
		}
	}
	if len(names) > 0 {
		o = append(o, rewrite.Member{Key: "env_vars", Value: names})
	}
	if len(headers) > 0 {
		o = append(o, rewrite.Member{Key: "env_http_headers", Value: headers})
	}
	return o
}

// ownGoose writes the variables that are passed on by their names.
func ownGoose(s *Server, t *translation) (o rewrite.Object) {
	o = rewrite.Object{{Key: "name", Value: s.Name}}
	if names := s.inherited(t); len(names) > 0 {
		o = append(o, rewrite.Member{Key: "env_keys", Value: names})
	}
	for _, f := range [][2]string{{"command", s.Command}, {"args", strings.Join(s.Args, " ")}, {"env", strings.Join(slices.Collect(maps.Values(s.Env)), " ")}} {
		if t.from != literalText && references[t.from]().MatchString(f[1]) {
			t.lose(f[0], "Goose takes it as it is written: write the values of its variables")
		}
	}
	if s.Timeout == 0 {
		s.Timeout = 5 * time.Minute // Goose wants one
	}
	return o
}

// inherited takes the variables from s.Env that the server is to get as they are, and returns their names.
func (s *Server) inherited(t *translation) (names []string) {
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		if name, ok := t.variable(s.Env[k]); ok && name == k {
			names = append(names, k)
			delete(s.Env, k)
		}
	}
	return names
}

// variable is the name of the one that s is, without a default.
func (t *translation) variable(s string) (string, bool) {
	if t.from == literalText {
		return "", false
	}
	m := references[t.from]().FindStringSubmatch(s)
	if m == nil || m[0] != s {
		return "", false
	}
	name, def, own := reference(t.from, m)
	return name, def == "" && own == ""
}
