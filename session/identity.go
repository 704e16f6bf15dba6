package session

import (
	"maps"
	"strings"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// Name is the server's name in the configs. It never changes, and no two servers of a manager have the same.
func (s *Session) Name() string { return s.cfg.Name }

// Title is what to call the server: its name in the configs, or where nobody gave it one what it calls itself. Of the servers of
// a manager each has its own. The server may have chosen it: at most 60 bytes of its text as it came.
func (s *Session) Title() string {
	if t := s.title.Load(); t != nil {
		return *t
	}
	return s.cfg.Name
}

// adoptName takes note of what the server calls itself.
func (s *Session) adoptName(info []byte) {
	if !s.cfg.Unnamed {
		return
	}
	for _, member := range []string{"title", "name"} {
		t := text.FirstLine(jsonrpc.GetString(info, member))
		if scope, name, ok := strings.Cut(t, "/"); ok && strings.HasPrefix(scope, "@") {
			t = name // of a package
		}
		if t = strings.TrimSpace(text.Clip(t, 60)); t != "" {
			s.unique(s, t)
			return
		}
	}
}

// Config is the server as it was configured, and where it moved to since.
func (s *Session) Config() config.Server {
	cfg := s.cfg
	now := s.link.snapshot()
	cfg.URL = now.url
	if now.env != nil {
		cfg.Env = maps.Clone(cfg.Env)
		if cfg.Env == nil {
			cfg.Env = map[string]string{}
		}
		maps.Copy(cfg.Env, now.env)
	}
	return cfg
}

// SetVariable adds to the environment of the child process from its next start on, for as long as this session lives.
func (s *Session) SetVariable(name, value string) {
	s.lists.forgetServer() // before a connection can be made by it
	s.link.setenv(name, value)
	s.notifyChange()
}

// SetURL takes note of another URL at which the server is from now on. It reports whether that is news to a session that is
// connected, or that tried to be: then Reconnect makes a connection to where it is.
func (s *Session) SetURL(url string) bool {
	if s.link.snapshot().url == url {
		return false
	}
	s.lists.forgetServer() // before a connection can be made to it
	news, stale := s.link.move(url)
	if news {
		s.notifyChange()
	}
	return stale
}

// Authorizer has the credentials for the server; nil for those that have no login, and where Options.Auth is not set.
func (s *Session) Authorizer() *auth.Authorizer { return s.auth }
