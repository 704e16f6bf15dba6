package config

import (
	"strconv"
	"time"
)

// Settings are what a mcphud.yaml or mcp.yaml says about all servers together.
// Zero stands for the default; Origin has the file of each that was set.
type Settings struct {
	Pool         Pool
	AutoDiscover *bool // register every tool of a server when it connects; nil = true
	// ContinueOnError lets the other servers go on when one fails; nil = true.
	ContinueOnError *bool
	CacheTTL        time.Duration // how long a tool list without its own ttl may be used; 0 = until the server says it changed
	DiscoveryLimit  time.Duration // of one discovery; 0 = the server's own timeout
	Origin          map[string]string
}

// Pool is the mcp.pool block.
type Pool struct {
	MaxIdleTime     time.Duration // a connection that nobody used for so long is closed; 0 = 5 minutes
	CleanupInterval time.Duration // how often to look; 0 = 1 minute
	MaxConnections  int           // 0 = no limit
}

var settingsKey = set("auto_discover", "continue_on_error", "cache_ttl", "discovery_timeout")

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
	case "discovery_timeout":
		s.DiscoveryLimit = settingDuration(d, m)
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
		case "discovery_timeout":
			s.DiscoveryLimit = o.DiscoveryLimit
		case "pool.max_idle_time":
			s.Pool.MaxIdleTime = o.Pool.MaxIdleTime
		case "pool.cleanup_interval":
			s.Pool.CleanupInterval = o.Pool.CleanupInterval
		case "pool.max_connections":
			s.Pool.MaxConnections = o.Pool.MaxConnections
		}
	}
}
