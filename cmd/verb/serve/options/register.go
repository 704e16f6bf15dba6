package options

import "time"

// unregisterTime is how long an agent that is no longer registered serves on, for routers to notice.
const unregisterTime = 500 * time.Millisecond
