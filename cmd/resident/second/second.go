// Package second trims the program's memory when the markdown renderer is initialised, before the rest of the program is.
package second

import (
	_ "charm.land/glamour/v2" // initialised before this package

	"github.com/mcphud/mcphud/cmd/resident"
)

func init() { resident.Trim() }
