//go:build !linux

package listen

// holder is known on Linux only.
func holder(int) string { return "" }
