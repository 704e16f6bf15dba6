package cli

import (
	"os"

	"github.com/mcphud/mcphud/session/wire/certs"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/views/settings"
)

// SettingVariable is the variable that comes before a setting of config.yaml, "" for none.
func SettingVariable(key string) string {
	switch key {
	case "theme":
		return "MCPHUD_THEME"
	case "images":
		return "MCPHUD_IMAGES"
	case "history.enabled":
		return NoHistory
	case "registry.url":
		return "MCPHUD_REGISTRY"
	case "network.proxy":
		return transport.ProxyVariable
	case "network.ca":
		return certs.Variable
	}
	return ModelVariables[key]
}

// SettingsFile is config.yaml for the screen of the settings, with the flags and variables that come before it in this run.
func (a *App) SettingsFile() settings.File {
	u := a.Preferences()
	own := map[string]string{transport.ProxyVariable: u.Proxy, certs.Variable: u.CA} // that prefer has set
	return settings.File{Path: UserFile(), Over: func(key string) (from, value string) {
		if f := a.Root.PersistentFlags().Lookup(fileFlags[key]); f != nil && f.Changed {
			return "--" + f.Name, f.Value.String()
		}
		name := SettingVariable(key)
		if is := os.Getenv(name); name != "" && is != "" && is != own[name] {
			return "$" + name, is
		}
		return "", ""
	}}
}
