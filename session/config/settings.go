package config

import (
	"strconv"
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
	MaxIdleTime     time.Duration `json:"max_idle_time,omitempty"`    // a connection that nobody used for so long is closed; 0 = 5 minutes
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

var settingsKey = set("auto_discover", "continue_on_error", "cache_ttl")

func (s *Settings) origin(key string) {
	if s.Origin == nil {
		s.Origin = map[string]string{}
	}
	s.Origin[key] = ""
}

func (s *Settings) field(d *document, m member) {
	switch m.key {
	case "auto_discover":
		s.AutoDiscover = settingBool(d, m)
	case "continue_on_error":
		s.ContinueOnError = settingBool(d, m)
	case "cache_ttl":
		s.CacheTTL = settingDuration(d, m)
	}
	s.origin(m.key)
}

func (s *Settings) pool(d *document, n node) {
	for _, m := range n.members() {
		switch m.key {
		case "max_idle_time":
			s.Pool.MaxIdleTime = settingDuration(d, m)
		case "cleanup_interval":
			s.Pool.CleanupInterval = settingDuration(d, m)
		case "max_connections":
			v, err := strconv.Atoi(m.value.text())
			if err != nil || v < 0 {
				d.warnAt(m.line, m.col, "max_connections is not a number; it is ignored")
				continue
			}
			s.Pool.MaxConnections = v
		default:
			d.warnAt(m.line, m.col, "unknown key %q of pool is ignored", clip(m.key))
			continue
		}
		s.origin("pool." + m.key)
	}
}

func (s *Settings) timeouts(d *document, n node) {
	for _, m := range n.members() {
		switch m.key {
		case "tool_call":
			s.Timeouts.ToolCall = settingDuration(d, m)
		case "connect":
			s.Timeouts.Connect = settingDuration(d, m)
		case "discovery":
			s.Timeouts.Discovery = settingDuration(d, m)
		default:
			d.warnAt(m.line, m.col, "unknown key %q of timeouts is ignored", clip(m.key))
			continue
		}
		s.origin("timeouts." + m.key)
	}
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
	for key := range o.Origin {
		if _, have := s.Origin[key]; have {
			continue
		}
		s.origin(key)
		s.Origin[key] = file
		switch key {
		case "auto_discover":
			s.AutoDiscover = o.AutoDiscover
		case "continue_on_error":
			s.ContinueOnError = o.ContinueOnError
		case "cache_ttl":
			s.CacheTTL = o.CacheTTL
		case "timeouts.tool_call":
			s.Timeouts.ToolCall = o.Timeouts.ToolCall
		case "timeouts.connect":
			s.Timeouts.Connect = o.Timeouts.Connect
		case "timeouts.discovery":
			s.Timeouts.Discovery = o.Timeouts.Discovery
		case "pool.max_idle_time":
			s.Pool.MaxIdleTime = o.Pool.MaxIdleTime
		case "pool.cleanup_interval":
			s.Pool.CleanupInterval = o.Pool.CleanupInterval
		case "pool.max_connections":
			s.Pool.MaxConnections = o.Pool.MaxConnections
		}
	}
}
