// Package hostile lets tests judge what is printed: Harm says what in it could act on a terminal or deceive its reader.
package hostile

import "github.com/mcphud/mcphud/session/serve/fault"

// String is one string that must do no harm where it is printed.
type String struct {
	Name  string // what it tries
	Value string // its bytes, which need not be UTF-8
}

// Strings are the payloads that misbehaving servers send.
func Strings() (out []String) {
	for _, p := range fault.Payloads() {
		out = append(out, String{p.Name, p.Text})
	}
	return out
}
