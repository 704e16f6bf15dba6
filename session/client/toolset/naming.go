package toolset

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Prefix says which tools of several servers have their server's name in front of their own.
type Prefix string

// The modes. Under Conflict only tools of one name have it; under Never none has, and tools of one name have no name at all.
const (
	Always   Prefix = "always"
	Conflict Prefix = "conflict"
	Never    Prefix = "never"
)

// Bounds of names, in bytes.
const (
	DefaultMaxName = 64 // what the APIs of language models take for the name of a tool
	LeastMaxName   = 16
	MostMaxName    = 128 // what the protocol recommends at most
	hashLen        = 8
)

// Naming is how tools of several servers are named where they are one list. The zero value names them mcp__SERVER__TOOL.
type Naming struct {
	Prefix    Prefix // "" is Always
	Separator string // with one, a name with a prefix is the server's, this and the tool's; else it is a FullName
	MaxName   int    // of a name in bytes, default DefaultMaxName
}

// Bare reports whether names may have no prefix, so that they depend on what other servers have.
func (n Naming) Bare() bool { return n.Prefix == Conflict || n.Prefix == Never }

// Full is a tool's name with its server's in front, however long that is.
func (n Naming) Full(server, tool string) string {
	if n.Separator != "" {
		return server + n.Separator + tool
	}
	return FullName(server, tool)
}

// Prefixed is Full as it stands in a list. What is too long, or has other characters than letters, digits, _ and -, is cut,
// with _ for those, and ends in 8 digits of its SHA-256, so that it stays the same and unique.
func (n Naming) Prefixed(server, tool string) string { return n.legal(n.Full(server, tool)) }

func (n Naming) maxName() int {
	if n.MaxName > 0 {
		return n.MaxName
	}
	return DefaultMaxName
}

func (n Naming) legal(full string) string {
	most := n.maxName()
	fits := len(full) <= most
	legal := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		fits = false
		return '_'
	}, full[:min(len(full), 4*most)])
	if fits {
		return full
	}
	return n.hashName(legal, full)
}

// hashName is a name that is cut to what a client takes, told from others by digits of the hash of what it stands for: not by a number, which would be another one
// as soon as a server comes or goes.
func (n Naming) hashName(legal, of string) string {
	sum := sha256.Sum256([]byte(of))
	return legal[:min(len(legal), n.maxName()-hashLen-1)] + "_" + hex.EncodeToString(sum[:hashLen/2])
}

// Shortened reports whether a name could be one that was cut, or made another because several tools would have had it.
func Shortened(name string) bool {
	i := len(name) - hashLen - 1
	if i < 0 || len(name) > MostMaxName || name[i] != '_' {
		return false
	}
	_, err := hex.DecodeString(name[i+1:])
	return err == nil
}

// Names are the names of all tools of a list, in their order, no two the same. servers are all that there are: a tool whose
// own name reads like one of another server's does not get it. A tool of which the mode allows no name gets "".
func (n Naming) Names(tools []ToolRef, servers []string) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		if n.Bare() {
			names[i] = n.legal(t.Tool)
		} else {
			names[i] = n.Prefixed(t.Server, t.Tool)
		}
	}
	if n.Bare() {
		count := make(map[string]int, len(tools))
		for _, name := range names {
			count[name]++
		}
		for i, t := range tools {
			switch {
			case count[names[i]] == 1 && !IsFullName(t.Tool) && len(n.Candidates(t.Tool, servers)) == 0:
			case n.Prefix == Never:
				names[i] = ""
			default:
				names[i] = n.Prefixed(t.Server, t.Tool)
			}
		}
	}
	n.distinguish(names, tools)
	return names
}

// distinguish gives tools that would have one name names of their own.
func (n Naming) distinguish(names []string, tools []ToolRef) {
	first := make(map[string]int, len(names))
	own := func(i int) string {
		t := tools[i]
		return n.hashName(n.Prefixed(t.Server, t.Tool), t.Server+"\x00"+t.Tool)
	}
	for i, name := range names {
		if name == "" {
			continue
		}
		if at, twice := first[name]; twice {
			names[at], names[i] = own(at), own(i)
			continue
		}
		first[name] = i
	}
}

// Candidates are all readings of a name with a prefix, in any spelling, that begin with one of the servers, the longest
// server name first.
func (n Naming) Candidates(full string, servers []string) []ToolRef {
	out := Candidates(full, servers)
	if n.Separator == "" {
		return out
	}
	for _, s := range servers {
		if tool, ok := strings.CutPrefix(full, s+n.Separator); ok && tool != "" && s != "" {
			out = append(out, ToolRef{s, tool})
		}
	}
	slices.SortFunc(out, func(a, b ToolRef) int { return len(b.Server) - len(a.Server) })
	return slices.Compact(out)
}

// Match reports whether a text fits a pattern, in which * stands for any text and ? for any character.
func Match(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, from := -1, 0 // where the last * is, and what it is tried to end before
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
