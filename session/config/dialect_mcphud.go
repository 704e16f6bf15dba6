package config

import "strings"

// mcphudDialect is the format of mcphud's own files, mcphud.yaml and mcp.yaml. They come first: MCPHUD_CONFIG takes the place of
// the user's file.
var mcphudDialect = &Dialect{
	Name:     "mcphud",
	Title:    "mcphud",
	Files:    "`$MCPHUD_CONFIG`, else `mcphud/mcphud.yaml` in the user's configuration folder; `mcphud.yaml` and `mcp.yaml` in the working folder",
	user:     func(o Options) []string { return []string{under(o.ConfigDir(), "mcphud.yaml")} },
	project:  []string{"mcphud.yaml", "mcp.yaml"},
	owns:     yamlName,
	lists:    usualLists,
	strict:   true,
	mcp:      true,
	settings: true,
	fields:   map[string]string{"id": "", "name": ""},
	http:     Auto, // http stands for "HTTP + SSE" in these files: whichever the server speaks
	expand:   expandShell,
	writes: func() *style {
		return &style{
			format: "yaml", off: isOff, head: "# Servers of mcphud. mcphud help servers says what an entry can have.\n",
			types: map[string]string{HTTP: "streamable-http", SSE: SSE}, // the URL or the command says all others
		}
	},
}

func yamlName(path string) bool {
	path = strings.ToLower(path)
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}
