package pane

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
)

// ShortPath is a path for people: below the working folder from there on for a project's file, else below the home as "~".
func ShortPath(where config.Options, path string, project bool) string {
	if rel, err := filepath.Rel(where.Cwd, path); err == nil && project {
		return rel
	}
	if rel, err := filepath.Rel(where.Home, path); err == nil && where.Home != "" && !strings.HasPrefix(rel, "..") {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// Register adds a server under the first name that is free.
func Register(m *session.Manager, srv config.Server) (*session.Session, error) {
	name := srv.Name
	for n := 2; ; n++ {
		if _, taken := m.Server(srv.Name); !taken {
			return m.Register(srv)
		}
		srv.Name = fmt.Sprintf("%s-%d", name, n)
	}
}

// Offline is the reason why something that needs a connection cannot run.
func Offline(c *tui.Ctx) string {
	switch {
	case c.Server == nil:
		return "no server is open"
	case c.Server.Status().State != session.Connected:
		return "the server is not connected; press 1"
	}
	return ""
}
