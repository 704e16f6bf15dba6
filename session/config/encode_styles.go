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
	inShell:   lazyPattern(`\$\{(?:env:([A-Za-z_][A-Za-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?)\}`),
	inEditor:  lazyPattern(`\$\{(?:env:([^}]+)|((?:input|config|command|workspaceFolder):[^}]+|userHome|workspaceFolder|workspaceFolderBasename|cwd|pathSeparator|/))\}`),
	inEnv:     lazyPattern(`\$\{env:([^}]+)\}`),
	inBraces:  lazyPattern(`\{env:([^}]+)\}`),
	inSecrets: lazyPattern(`\$\{\{\s*secrets\.([^}\s]+)\s*\}\}`),
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
	if d.writes == nil {
		return &style{names: keep("command args env envFile cwd url headers headersHelper oauth"), types: map[string]string{Stdio: "", HTTP: "http", SSE: "sse", WS: "ws", Auto: ""}, off: disabled}
	}
	return d.writes()
}

// takeInherited takes the variables from s.Env that the server is to get as they are, and returns their names.
func (s *Server) takeInherited(t *translation) (names []string) {
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
