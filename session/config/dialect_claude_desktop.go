package config

// claudeDesktop is the format of Claude Desktop, whose values are literal.
var claudeDesktop = &Dialect{
	Name:   "claude-desktop",
	Files:  "`claude_desktop_config.json` in the folder of Claude Desktop",
	user:   func(o Options) string { return under(claudeFolder(o), "claude_desktop_config.json") },
	owns:   named("claude_desktop_config.json"),
	lists:  usualLists,
	fields: displayFields,
	http:   HTTP,
}

func claudeFolder(o Options) string {
	switch o.goos() {
	case "windows":
		return under(o.env("APPDATA"), "Claude")
	case "darwin":
		return under(o.Home, "Library", "Application Support", "Claude")
	}
	return under(o.xdg("XDG_CONFIG_HOME", ".config"), "Claude")
}
