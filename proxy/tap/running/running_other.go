//go:build !linux

package running

// Supported is whether processes can be listed on this system.
const Supported = false

// Processes lists the processes of this user: none here.
func Processes() ([]Process, error) { return nil, nil }
