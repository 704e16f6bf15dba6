package config

import "time"

// inspector is the format of the MCP Inspector, whose values are literal.
var inspector = &Dialect{
	Name:    "inspector",
	Title:   "MCP Inspector",
	Restart: "start the Inspector again",
	Files:   "`$MCP_CATALOG_PATH`, else `~/.mcp-inspector/mcp.json`",
	user:    inspectorFiles,
	owns:    namedIn([]string{".mcp-inspector"}, "mcp.json"),
	client: func(o Options) []clientFile {
		files := []clientFile{{under(o.Cwd, "mcp.json"), usualLists}}
		for _, f := range inspectorFiles(o) {
			files = append(files, clientFile{f, usualLists})
		}
		return files
	},
	lists: usualLists,
	fields: map[string]string{
		"connectionTimeout": "connect_timeout", "requestTimeout": "timeout", "modernLogLevel": "", "metadata": "", "taskTtl": "", "autoRefreshOnListChanged": "",
		"paginatedLists": "", "advertisedExtensions": "", "maxFetchRequests": "", "eventSourceInit": "", "name": "", "description": "", "notes": "",
	},
	read: map[string]func(*entry, node){
		"protocolEra": func(e *entry, n node) {
			switch era := e.string("protocolEra", n); era {
			case "legacy":
				e.Protocol = "2025-11-25"
			case "modern":
				e.Protocol = "2026-07-28"
			case "auto":
			default:
				e.problem("protocolEra", "%q is not an era; write legacy, modern or auto", clip(era))
			}
		},
		"roots": func(e *entry, n node) {
			for i, el := range n.elems() {
				field := index("roots", i)
				if el.kind() == object {
					el, _ = el.get("uri")
				}
				e.Roots = append(e.Roots, e.string(field, el))
			}
		},
		"requestInit": func(e *entry, n node) {
			if headers, ok := n.get("headers"); ok {
				e.field("headers", headers)
			}
		},
	},
	http: HTTP,
	writes: func() *style {
		return &style{
			names: keep("command args env cwd url headers", "timeout", "requestTimeout", "connect_timeout", "connectionTimeout"), unit: time.Millisecond,
			types: map[string]string{Stdio: Stdio, HTTP: "streamable-http", SSE: SSE, Auto: "streamable-http"}, variables: literalText,
		}
	},
}

func inspectorFiles(o Options) []string {
	if f := o.env("MCP_CATALOG_PATH"); f != "" {
		return []string{o.abs(f)}
	}
	return []string{under(o.Home, ".mcp-inspector", "mcp.json")}
}
