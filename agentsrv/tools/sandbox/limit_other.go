//go:build !linux

package sandbox

// restrict does nothing here: the engine's own limits and the agent, which kills a worker that takes too long, are all
// there is.
func restrict() error { return nil }
