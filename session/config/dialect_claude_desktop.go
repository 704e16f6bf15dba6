package config

// claudeDesktop is the format of Claude Desktop, whose values are literal.
var claudeDesktop = &Dialect{
	Name:    "claude-desktop",
	Title:   "Claude Desktop",
	Restart: "quit and start Claude Desktop",
	Files:   "`claude_desktop_config.json` in the folder of Claude Desktop",
	user:    func(o Options) []string { return []string{under(appFolder(o), "Claude", "claude_desktop_config.json")} },
	owns:    ownsNames("claude_desktop_config.json"),
	lists:   usualLists,
	fields:  displayFields,
	http:    HTTP,
	writes: func() *style {
		return &style{names: keep("command args env url headers"), types: typed, typeKey: "transport", variables: literalText}
	},
}
