package tenant

import (
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/serve/ingress"
)

// maxID is the length of the longest tenant id, in characters.
const maxID = 128

const idRule = "must have 1 to 128 visible characters, and no spaces"

// ValidID reports whether id can name a tenant: 1 to 128 characters that are visible and no white space. Characters
// beyond ASCII are refused too, since several of them look like others or like nothing.
func ValidID(id string) bool {
	return id != "" && len(id) <= maxID && utf8.ValidString(id) && ingress.Visible(id)
}
