//go:build !linux || !(amd64 || arm64)

package confine

import "runtime"

// Supported is why this system cannot shut a process in.
func Supported() error {
	return &UnsupportedError{"that takes Linux on x86-64 or ARM64, and this is " + runtime.GOOS + " on " + runtime.GOARCH}
}

// Prepare refuses.
func Prepare(Rules, Program) (Program, func(), error) { return Program{}, nil, Supported() }
