package config

// zed is the format of Zed's settings, whose values are literal.
var zed = &Dialect{
	Name:  "zed",
	Title: "Zed",
	Files: "`settings.json` in the folder of Zed; `.zed/settings.json` in the working folder",
	user: func(o Options) []string {
		switch o.goos() {
		case "darwin": // not where other programs have theirs
			return []string{under(o.Home, ".config", "zed", "settings.json")}
		case "windows":
			return []string{under(o.env("APPDATA"), "Zed", "settings.json")}
		}
		return []string{under(o.xdg("XDG_CONFIG_HOME", ".config"), "zed", "settings.json")}
	},
	project: []string{".zed/settings.json"},
	owns:    namedIn([]string{"zed", ".zed"}, "settings.json"),
	lists:   [][]string{{"context_servers"}},
	skip:    func(n node) bool { return n.kind() == object && !n.has("command", "url") }, // an extension's, which knows the command
	fields:  map[string]string{"source": "", "settings": "", "remote": "", "description": ""},
	read: map[string]func(*entry, node){
		"command": func(e *entry, n node) {
			if n.kind() != object {
				e.field("command", n)
				return
			}
			for _, m := range n.members() { // as it was written until 2025
				switch m.key {
				case "path":
					e.field("command", m.value)
				case "args", "env":
					e.field(m.key, m.value)
				default:
					e.warnUnknown(m, "command")
				}
			}
		},
	},
	http: Auto,
	writes: func() *style {
		return &style{names: keep("command args env url headers"), types: map[string]string{Stdio: "", HTTP: "", Auto: ""}, variables: literalText, off: isOff}
	},
}
