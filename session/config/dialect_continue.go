package config

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/config/setup"
)

// continueDialect is the format of Continue, whose servers are lists. Files below mcpServers can be those of other programs as well.
var continueDialect = &Dialect{
	Name:    "continue",
	Title:   "Continue",
	Restart: "reload the configuration in Continue",
	Files:   "`~/.continue/config.yaml` and the files of `~/.continue/mcpServers`; the files of `.continue/mcpServers` in the working folder",
	user: func(o Options) []string {
		folder := under(o.Home, ".continue")
		files := []string{under(folder, "config.yaml")}
		for _, pattern := range continueFiles {
			files = append(files, matchingFiles(under(folder, "mcpServers"), pattern)...)
		}
		return files
	},
	project: []string{".continue/mcpServers/*.yaml", ".continue/mcpServers/*.yml", ".continue/mcpServers/*.json"},
	owns: func(path string) bool {
		folder := filepath.Dir(path)
		return namedIn([]string{".continue"}, "config.yaml", "config.yml")(path) || filepath.Base(folder) == "mcpServers" && filepath.Base(filepath.Dir(folder)) == ".continue"
	},
	lists: [][]string{{"mcpServers"}},
	before: func(r *reader) { // a file that is one entry
		if r.doc.root.has("command", "url") {
			r.found = true
			line, col := r.doc.root.pos()
			r.entry(stem(strings.TrimSuffix(r.src.File, filepath.Ext(r.src.File))), line, col, r.doc.root)
		}
	},
	skip:   func(n node) bool { return n.has("uses") && !n.has("command", "url") }, // a block of Continue's hub
	fields: map[string]string{"name": "", "serverName": "", "faviconUrl": "", "sourceFile": "", "connectionTimeout": "connect_timeout", "uses": "", "with": "", "description": ""},
	read: map[string]func(*entry, node){
		"requestOptions": func(e *entry, n node) {
			for _, m := range n.members() {
				switch m.key {
				case "headers":
					e.field("headers", m.value)
				case "timeout":
					e.field("timeout", m.value)
				case "caBundlePath", "proxy", "verifySsl", "extraBodyProperties", "noProxy", "clientCertificate":
				default:
					e.warnUnknown(m, "requestOptions")
				}
			}
		},
		"apiKey": func(e *entry, n node) {
			if key := e.string("apiKey", n); key != "" {
				e.Headers = mergeInto(e.Headers, map[string]string{"Authorization": "Bearer " + key})
			}
		},
	},
	http:   Auto,
	expand: expandContinue,
	writes: func() *style {
		return &style{
			format: "yaml", head: "name: Servers\nversion: 0.0.1\nschema: v1\n", list: true, names: keep("command args env cwd url", "headers", "requestOptions", "connect_timeout", "connectionTimeout"),
			types: map[string]string{Stdio: Stdio, HTTP: "streamable-http", SSE: SSE, Auto: "streamable-http"}, unit: time.Millisecond, variables: inSecrets,
		}
	},
}

var continueFiles = []string{"*.yaml", "*.yml", "*.json"}

// continueVar is ${{ secrets.NAME }}, and in files of JSON ${NAME}, which Continue takes for the same.
var continueVar = regexp.MustCompile(`\$\{\{\s*(?:secrets|inputs|env)\.([A-Za-z0-9_./-]+)\s*\}\}|\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expandContinue replaces secrets by variables of the environment, or of ~/.continue/.env; what is in neither is asked for. Files of
// the working folder that have such variables are not read: whoever brings the folder could change by them what a server of the user
// runs.
func expandContinue(x *expander, field, s string) string {
	return replace(continueVar, s, func(m []string) string {
		name := m[1]
		if name == "" {
			if name = m[2]; !strings.EqualFold(filepath.Ext(x.file), ".json") {
				return m[0]
			}
		}
		name = name[strings.LastIndexByte(name, '/')+1:]
		return x.variable(field, name, func() string {
			if v, ok := x.dotenv(under(x.opt.Home, ".continue", ".env"), name); ok {
				return v
			}
			return x.ask(setup.Input{Name: name, Required: true, Secret: true, Description: "a secret of Continue"}, m[0])
		})
	})
}
