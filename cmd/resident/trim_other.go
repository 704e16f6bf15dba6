//go:build !linux

package resident

// Trim does nothing: only Linux counts mapped pages of a file as the program's.
func Trim() {}
