//go:build !linux

package fuzz

// resident is not known here.
func resident(int) (int64, bool) { return 0, false }
