package config

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/config/rewrite"
)

// gemini is the format of Gemini CLI.
var gemini = &Dialect{
	Name:    "gemini",
	Title:   "Gemini CLI",
	Restart: "start Gemini CLI again",
	Files:   "`~/.gemini/settings.json`; `.gemini/settings.json` in the working folder",
	user:    func(o Options) []string { return []string{under(o.Home, ".gemini", "settings.json")} },
	project: []string{".gemini/settings.json"},
	owns:    namedIn([]string{".gemini"}, "settings.json"),
	lists:   [][]string{{"mcpServers"}},
	before: func(r *reader) { // mcp.excluded and mcp.allowed say which servers Gemini CLI connects
		mcp, _ := r.doc.root.get("mcp")
		r.excluded, r.allowed = mcp.strings("excluded"), mcp.strings("allowed")
	},
	fields: map[string]string{
		"description": "", "trust": "", "includeTools": "", "excludeTools": "", "extension": "", "extensionName": "", "authProviderType": "", "targetAudience": "", "targetServiceAccount": "",
	},
	read: map[string]func(*entry, node){
		"httpUrl": func(e *entry, n node) { // counts before url
			e.field("url", n)
			e.given = HTTP
		},
		"url": func(e *entry, n node) {
			if _, ok := e.at["httpUrl"]; !ok {
				e.field("url", n)
			}
		},
	},
	http:   HTTP,
	expand: expandGemini,
	writes: func() *style {
		return &style{
			names: keep("command args env cwd headers timeout url oauth", "http", "httpUrl"), types: justURL, unit: time.Millisecond, oauth: camelAuth, own: ownGemini,
		}
	},
}

var dollarVar = regexp.MustCompile(`\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\})`)

// expandGemini replaces $NAME, ${NAME} and ${NAME:-default}.
func expandGemini(x *expander, field, s string) string {
	return replace(dollarVar, s, func(m []string) string {
		name := m[1] + m[2]
		return x.variable(field, name, func() string {
			if m[3] != "" {
				return m[4]
			}
			return x.reportUnset(field, name, m[0], fmt.Sprintf(", or write ${%s:-default}", name))
		})
	})
}

// isExcluded reports whether the file says apart from the entries that this one is not connected.
func (r *reader) isExcluded(name string) bool {
	return slices.Contains(r.excluded, name) || len(r.allowed) > 0 && !slices.Contains(r.allowed, name)
}

// ownGemini writes a Streamable HTTP server by another member than one of HTTP+SSE.
func ownGemini(s *Server, t *translation) (o rewrite.Object) {
	if s.URL != "" && s.Transport != SSE {
		o = append(o, rewrite.Member{Key: "httpUrl", Value: t.text("url", s.URL)})
		s.URL = ""
	}
	return o
}
