package cluster

const (
	keyBucket  = "mcphud-keys"
	sessionKey = "session"
)

// SessionKeys are the keys that all routers seal the ids of sessions with, the first of them.
func (c *Cluster) SessionKeys() [][]byte { return c.keys }
