// Package first trims the program's memory when the highlighter's styles and lexers are read.
package first

import (
	_ "github.com/alecthomas/chroma/v2/styles" // initialised before this package

	"github.com/mcphud/mcphud/cmd/resident"
)

func init() { resident.Trim() }
