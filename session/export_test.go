package session

// What tests outside of the package measure by.
const (
	PipePatience  = pipePatience
	HealthTimeout = healthTimeout
	ListDebounce  = listDebounce
	ListRest      = listRest
	MaxPages      = maxPages
)

// Common is common.
var Common = common
