package front

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// defaultVersion is assumed of a legacy caller that names no version.
const defaultVersion = mcp.ProtocolVersion20250618

// maxSubscriptions bounds what one client can make us remember.
const maxSubscriptions = 1000

// client is what a client has said about itself: for the life of a session, or in one modern request.
//
// Its exported methods are those by which mcp-go knows a session; most are called by the engine.
type client struct {
	mu      sync.Mutex // guards all of it
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	version string              // of the protocol
	level   mcp.LoggingLevel    // "" until the client says
	ready   bool                // it sent notifications/initialized; a caller without a session is ready at once
	watched map[string]struct{} // URIs that it subscribed to, at most maxSubscriptions; nil before the first
}

// Initialize marks the client as ready for notifications.
func (c *client) Initialize() {
	c.mu.Lock()
	c.ready = true
	c.mu.Unlock()
}

// Initialized reports whether Initialize was called.
func (c *client) Initialized() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

// GetClientInfo is the client's name and version, zero if it gave none.
func (c *client) GetClientInfo() mcp.Implementation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// SetClientInfo is called by the engine.
func (c *client) SetClientInfo(info mcp.Implementation) {
	c.mu.Lock()
	c.info = info
	c.mu.Unlock()
}

// GetClientCapabilities is what the client declared that it can do.
func (c *client) GetClientCapabilities() mcp.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caps
}

// SetClientCapabilities is called by the engine.
func (c *client) SetClientCapabilities(caps mcp.ClientCapabilities) {
	c.mu.Lock()
	c.caps = caps
	c.mu.Unlock()
}

// ProtocolVersion is the negotiated version.
func (c *client) ProtocolVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// SetProtocolVersion is called by the engine.
func (c *client) SetProtocolVersion(version string) {
	c.mu.Lock()
	c.version = version
	c.mu.Unlock()
}

// SetLogLevel takes logging/setLevel.
func (c *client) SetLogLevel(level mcp.LoggingLevel) {
	c.mu.Lock()
	c.level = level
	c.mu.Unlock()
}

// GetLogLevel is the least severe level that the client wants; info until it says.
func (c *client) GetLogLevel() mcp.LoggingLevel {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.level == "" {
		return mcp.LoggingLevelInfo
	}
	return c.level
}

// SubscribeToResource is SubscribeToResourceErr for those who do not ask.
func (c *client) SubscribeToResource(uri string) { _ = c.SubscribeToResourceErr(uri) }

// SubscribeToResourceErr subscribes the client to changes of uri; it fails beyond 1,000 subscriptions.
func (c *client) SubscribeToResourceErr(uri string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.watched[uri]; !ok && len(c.watched) >= maxSubscriptions {
		return errTooMany
	}
	if c.watched == nil {
		c.watched = map[string]struct{}{}
	}
	c.watched[uri] = struct{}{}
	return nil
}

// UnsubscribeFromResource ends a subscription.
func (c *client) UnsubscribeFromResource(uri string) {
	c.mu.Lock()
	delete(c.watched, uri)
	c.mu.Unlock()
}

// SubscribedResources are the URIs of the client's subscriptions.
func (c *client) SubscribedResources() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.watched))
	for uri := range c.watched {
		out = append(out, uri)
	}
	return out
}

// IsSubscribedToResource reports whether the client is subscribed to uri.
func (c *client) IsSubscribedToResource(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.watched[uri]
	return ok
}
