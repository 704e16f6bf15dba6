//go:build !linux && !darwin

package files

import "os"

// attributes keeps no extended attributes here.
func attributes(*os.File, string, bool) (lost []string) { return nil }
