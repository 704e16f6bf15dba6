package config

import (
	"strconv"
	"strings"
	"time"
)

// Settings are what a mcphud.yaml or mcp.yaml says about all servers together.
// Zero stands for the default; Origin has the file of each that was set.
type Settings struct {
	Pool         Pool  `json:"pool"`
	AutoDiscover *bool `json:"auto_discover,omitempty"` // register every tool of a server when it connects; nil = true
	// ContinueOnError lets the other servers go on when one fails; nil = true.
	ContinueOnError *bool         `json:"continue_on_error,omitempty"`
	CacheTTL        time.Duration `json:"cache_ttl,omitempty"` // how long a tool list without its own ttl may be used; 0 = until the server says it changed
	Timeouts        Timeouts      `json:"timeouts"`
	// Origin has the file that each setting comes from, by its name ("pool.max_idle_time").
	Origin map[string]string `json:"origin,omitempty"`
}

// Pool is the pool block.
type Pool struct {
	MaxIdleTime     time.Duration `json:"max_idle_time,omitempty"`    // an unused connection is closed after that time; 0 = 5 minutes
	CleanupInterval time.Duration `json:"cleanup_interval,omitempty"` // how often to look; 0 = 1 minute
	MaxConnections  int           `json:"max_connections,omitempty"`  // 0 = no limit
}

// Timeouts is the timeouts block. The first two are for the servers of the same file that say nothing themselves.
type Timeouts struct {
	ToolCall  time.Duration `json:"tool_call,omitempty"` // Server.Timeout
	Connect   time.Duration `json:"connect,omitempty"`   // Server.ConnectTimeout
	Discovery time.Duration `json:"discovery,omitempty"` // of discovering a server's tools; 0 = its own timeout
}

// apply fills in what the server says nothing about.
func (t Timeouts) apply(s *Server) {
	if s.Timeout == 0 {
		s.Timeout = t.ToolCall
	}
	if s.ConnectTimeout == 0 {
		s.ConnectTimeout = t.Connect
	}
}

// setting points to what files call by that name, such as "pool.max_connections"; nil if nothing is called so.
func (s *Settings) setting(name string) any {
	switch name {
	case "auto_discover":
		return &s.AutoDiscover
	case "continue_on_error":
		return &s.ContinueOnError
	case "cache_ttl":
		return &s.CacheTTL
	case "pool.max_idle_time":
		return &s.Pool.MaxIdleTime
	case "pool.cleanup_interval":
		return &s.Pool.CleanupInterval
	case "pool.max_connections":
		return &s.Pool.MaxConnections
	case "timeouts.tool_call":
		return &s.Timeouts.ToolCall
	case "timeouts.connect":
		return &s.Timeouts.Connect
	case "timeouts.discovery":
		return &s.Timeouts.Discovery
	}
	return nil
}

// read takes over one member of a file or of the mcp block; false if it is not a setting.
func (s *Settings) read(d *document, m member) bool {
	if m.key == "pool" || m.key == "timeouts" {
		for _, inner := range m.value.members() {
			if !s.readOne(d, m.key+"."+inner.key, inner) {
				d.warnAt(inner.line, inner.col, "unknown key %q of %s is ignored", clip(inner.key), m.key)
			}
		}
		return true
	}
	return !strings.Contains(m.key, ".") && s.readOne(d, m.key, m) // a dot is for the names of settings in blocks
}

func (s *Settings) readOne(d *document, name string, m member) bool {
	switch p := s.setting(name).(type) {
	case *time.Duration:
		*p = settingDuration(d, m)
	case **bool:
		*p = settingBool(d, m)
	case *int:
		v, err := strconv.Atoi(m.value.text())
		if err != nil || v < 0 {
			d.warnAt(m.line, m.col, "%s is not a number; it is ignored", m.key)
			return true
		}
		*p = v
	default:
		return false
	}
	s.setOrigin(name, "")
	return true
}

func (s *Settings) setOrigin(name, file string) {
	if s.Origin == nil {
		s.Origin = map[string]string{}
	}
	s.Origin[name] = file
}

func settingBool(d *document, m member) *bool {
	v, err := strconv.ParseBool(m.value.text())
	if err != nil {
		d.warnAt(m.line, m.col, "%s is neither true nor false; it is ignored", m.key)
		return nil
	}
	return &v
}

func settingDuration(d *document, m member) time.Duration {
	v, err := parseDuration(m.value)
	if err != nil {
		d.warnAt(m.line, m.col, "%s: %v; it is ignored", m.key, err)
	}
	return v
}

// merge fills in what no earlier file has set.
func (s *Settings) merge(o Settings, file string) {
	for name := range o.Origin {
		if _, have := s.Origin[name]; have {
			continue
		}
		s.setOrigin(name, file)
		switch p := s.setting(name).(type) {
		case *time.Duration:
			*p = *o.setting(name).(*time.Duration)
		case **bool:
			*p = *o.setting(name).(**bool)
		case *int:
			*p = *o.setting(name).(*int)
		}
	}
}
