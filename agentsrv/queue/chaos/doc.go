// Package chaos has no code: its tests kill agents, routers and NATS servers while callers work, and compare what those were told with
// what ran. The README of the queue says what has to come of it.
package chaos
