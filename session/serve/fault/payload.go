package fault

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

//go:embed payloads.json
var payloads []byte

// Payload is one of the strings by which a server attacks whoever prints them, runs them or names files by them: escape sequences, hidden
// and reordering characters, piles of marks, bytes that are not UTF-8, URLs, paths. The misbehaving servers send them, and tests of what
// prints them use the same ones.
type Payload struct {
	Name string // what it tries
	Text string // its bytes, which need not be UTF-8; up to 1 MiB
}

// Payloads decodes all payloads, anew each time, since some are large.
func Payloads() []Payload {
	// Text is kept as it is, in base64 where it is not UTF-8, or with a count where it repeats.
	var raw []struct {
		Name, Text, Base64, Before, After string
		Repeat                            int
	}
	if err := json.Unmarshal(payloads, &raw); err != nil {
		panic(fmt.Sprintf("payload: %v", err)) // a test decodes them
	}
	out := make([]Payload, 0, len(raw))
	for _, r := range raw {
		text := r.Text
		if r.Base64 != "" {
			b, err := base64.StdEncoding.DecodeString(r.Base64)
			if err != nil {
				panic(fmt.Sprintf("payload: %s: %v", r.Name, err))
			}
			text = string(b)
		}
		out = append(out, Payload{r.Name, r.Before + strings.Repeat(text, max(r.Repeat, 1)) + r.After})
	}
	return out
}

// PayloadTexts are the texts of all payloads that are UTF-8, and so can travel in JSON, and have at most max bytes.
func PayloadTexts(max int) []string {
	var out []string
	for _, p := range Payloads() {
		if len(p.Text) <= max && utf8.ValidString(p.Text) {
			out = append(out, p.Text)
		}
	}
	return out
}

// Slug is the payload's name as the names of tools, prompts and resources have it: lower case letters, digits and _.
func (p Payload) Slug() string {
	words := strings.FieldsFunc(strings.ToLower(p.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "_")
}
