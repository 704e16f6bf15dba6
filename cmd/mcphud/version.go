package main

import (
	"runtime/debug"

	"github.com/mcphud/mcphud/session"
)

// version is the module's version as the go command recorded it, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// clientInfo is how mcphud introduces itself to servers.
func clientInfo() session.Implementation {
	return session.Implementation{Name: "mcphud", Title: "mcphud", Version: version()}
}
