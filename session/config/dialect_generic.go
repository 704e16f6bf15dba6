package config

// generic is what a file of any other name is taken for.
var generic = &Dialect{
	Name:   "mcpServers",
	Files:  "any other file that you name",
	owns:   func(string) bool { return true },
	lists:  usualLists,
	fields: genericFields(),
	http:   HTTP,
	expand: expandShell,
}

func genericFields() map[string]string {
	f := loginFields()
	f["serverUrl"] = "url"
	return f
}
