package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/mcphud/mcphud/session/toolset"
)

const (
	maxName = 64 // what the APIs of language models take for the name of a tool
	hashLen = 8
)

// Wire is the name of an agent's tool or prompt in the merged lists: mcp__AGENT__NAME. One that is longer than 64
// characters, or has others than letters, digits, _ and -, is cut, with _ for those, and ends in 8 digits of its SHA-256, so
// that it stays the same and unique.
func Wire(agent, name string) string {
	full := toolset.FullName(agent, name)
	fits := len(full) <= maxName
	legal := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		fits = false
		return '_'
	}, full[:min(len(full), 4*maxName)])
	if fits {
		return full
	}
	return hashed(legal, full)
}

// distinct is Wire for a name that is the same for another agent's tool or prompt.
func distinct(agent, name string) string { return hashed(Wire(agent, name), agent+"\x00"+name) }

func hashed(legal, of string) string {
	sum := sha256.Sum256([]byte(of))
	return legal[:min(len(legal), maxName-hashLen-1)] + "_" + hex.EncodeToString(sum[:hashLen/2])
}

// shortened reports whether a name could be one that Wire made shorter.
func shortened(name string) bool {
	i := len(name) - hashLen - 1
	if i < 0 || len(name) > maxName || name[i] != '_' {
		return false
	}
	_, err := hex.DecodeString(name[i+1:])
	return err == nil
}
