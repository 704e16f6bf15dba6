//go:build linux || freebsd || netbsd || openbsd || dragonfly

package credstore

import (
	"errors"
	"fmt"
	"os"
)

// keychainError says why there is no keychain, nil where there may be one. It is asked first because the library would start a message
// bus where none runs.
func keychainError() error {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && a != "autolaunch:" {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(fmt.Sprintf("/run/user/%d/%s", os.Getuid(), name)); err == nil {
			return nil
		}
	}
	return errors.New("no D-Bus session runs here")
}
