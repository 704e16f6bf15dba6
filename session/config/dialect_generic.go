package config

// generic is what a file of any other name is taken for.
var generic = &Dialect{
	Name:    "mcpServers",
	Files:   "`mcp.json` in the working folder; any other file that you name",
	project: []string{"mcp.json"},
	owns:    func(string) bool { return true },
	lists:   usualLists,
	mcp:     true,
	fields:  genericFields(),
	http:    HTTP,
	expand:  expandShell,
}

func genericFields() map[string]string {
	f := loginFields()
	f["serverUrl"] = "url"
	return f
}
