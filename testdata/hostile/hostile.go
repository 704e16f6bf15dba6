// Package hostile hands the corpus of strings and payloads that a malicious
// server could send to tests.
package hostile

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed strings.json
var stringsJSON []byte

// String is one hostile string.
type String struct {
	Name  string // what it tries
	Value string // its bytes, which need not be UTF-8
}

// Strings returns the corpus. Entries are kept in strings.json as text, as
// base64 where they are not UTF-8, or with a count where they repeat.
func Strings() []String {
	var raw []struct {
		Name, Text, Base64, Before, After string
		Repeat                            int
	}
	if err := json.Unmarshal(stringsJSON, &raw); err != nil {
		panic(fmt.Sprintf("hostile: strings.json: %v", err))
	}
	out := make([]String, 0, len(raw))
	for _, r := range raw {
		v := r.Text
		if r.Base64 != "" {
			b, err := base64.StdEncoding.DecodeString(r.Base64)
			if err != nil {
				panic(fmt.Sprintf("hostile: strings.json: %s: %v", r.Name, err))
			}
			v = string(b)
		}
		out = append(out, String{r.Name, r.Before + strings.Repeat(v, max(r.Repeat, 1)) + r.After})
	}
	return out
}
