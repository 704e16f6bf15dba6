package access

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxEntries = 10_000
	maxName    = 100
)

// Principal is who calls.
type Principal struct {
	Name string // "" is anybody
	all  bool
	may  []string // names of agents
}

// May reports whether the principal may call an agent. Names are compared byte by byte.
func (p Principal) May(agent string) bool { return p.all || slices.Contains(p.may, agent) }

// All reports whether the principal may call every agent, also those that are yet to come.
func (p Principal) All() bool { return p.all }

// Tokens are the callers that a file lists: an immutable snapshot.
type Tokens struct {
	Warnings []string // of what is in the file and means nothing, or not what it seems to

	sums   [][sha256.Size]byte
	whose  []Principal
	byName map[string]Principal
}

// Len is how many tokens there are.
func (t *Tokens) Len() int { return len(t.sums) }

// ParseTokens reads {"tokens":[{"sha256":HEX,"name":NAME,"allowedTargets":[AGENT…]}]}. The hash is that of the token's bytes;
// "*" among the targets allows all agents, and no targets allow none. What is wrong is an error, after which nothing of the
// file counts; it never repeats what could be a token.
func ParseTokens(text []byte) (*Tokens, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, errors.New("not valid UTF-8")
	}
	if err := jsonrpc.Valid(text); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	t := &Tokens{byName: map[string]Principal{}}
	var list []byte
	err := t.object(text, "the file", func(key string, v []byte) error {
		if key != "tokens" {
			return errUnknown
		}
		list = v
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case list == nil || list[0] != '[':
		return nil, errors.New(`the list "tokens" is missing`)
	}
	n := 0
	walk := jsonrpc.Elements(list, func(e []byte) bool {
		if n++; n > maxEntries {
			err = fmt.Errorf("more than %d tokens", maxEntries)
		} else {
			err = t.add(e, n)
		}
		return err == nil
	})
	return t, errors.Join(err, walk)
}

var errUnknown = errors.New("is unknown and ignored")

// object walks an object's members. A name that is given twice is an error, for readers differ in which one counts; one that
// f does not know is a warning.
func (t *Tokens) object(obj []byte, what string, f func(key string, v []byte) error) (err error) {
	obj = bytes.TrimLeft(obj, " \t\r\n")
	if obj[0] != '{' {
		return fmt.Errorf("%s is not an object", what)
	}
	seen := map[string]bool{}
	walk := jsonrpc.Members(obj, func(key string, v []byte) bool {
		if seen[key] {
			err = fmt.Errorf("%s has %q twice", what, clip(key))
			return false
		}
		seen[key] = true
		switch e := f(key, v); {
		case errors.Is(e, errUnknown):
			t.Warnings = append(t.Warnings, fmt.Sprintf("member %q of %s %v", clip(key), what, e))
		case e != nil:
			err = fmt.Errorf("%s of %s %w", key, what, e)
		}
		return err == nil
	})
	return errors.Join(err, walk)
}

// add reads the nth entry.
func (t *Tokens) add(e []byte, n int) error {
	what := fmt.Sprintf("token %d", n)
	var sum []byte
	var p Principal
	err := t.object(e, what, func(key string, v []byte) (err error) {
		switch key {
		case "sha256":
			sum, err = hash(v)
		case "name":
			p.Name, err = nameOf(v)
		case "allowedTargets":
			p.may, err = targets(v)
			p.all = slices.Contains(p.may, "*")
		default:
			return errUnknown
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case sum == nil:
		return fmt.Errorf("%s has no sha256", what)
	case p.Name == "":
		return fmt.Errorf("%s has no name", what)
	}
	for _, have := range t.sums {
		if bytes.Equal(have[:], sum) {
			return fmt.Errorf("%s has the same sha256 as an earlier one", what)
		}
	}
	p.may = union(p.may, nil)
	t.sums = append(t.sums, [sha256.Size]byte(sum))
	t.whose = append(t.whose, p)
	both, known := t.byName[p.Name] // a caller may have several tokens, such as while one is replaced by another
	if known && !slices.Equal(both.may, p.may) {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s has other allowedTargets than an earlier one of the same name: both are one caller, "+
			"sharing sessions and streams; give callers with different rights different names", what))
	}
	t.byName[p.Name] = Principal{Name: p.Name, all: both.all || p.all, may: union(both.may, p.may)}
	return nil
}

func hash(v []byte) ([]byte, error) {
	s, _ := jsonrpc.String(v)
	sum, err := hex.DecodeString(s)
	if err != nil || len(sum) != sha256.Size {
		return nil, errors.New("is not the SHA-256 of a token in hexadecimal, such as `printf %s TOKEN | sha256sum` prints")
	}
	if empty := sha256.Sum256(nil); bytes.Equal(sum, empty[:]) {
		return nil, errors.New("is the SHA-256 of an empty token")
	}
	return sum, nil
}

func nameOf(v []byte) (string, error) {
	s, ok := jsonrpc.String(v)
	if !ok || s == "" || len(s) > maxName || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return "", fmt.Errorf("must be 1 to %d printable characters", maxName)
	}
	return s, nil
}

// union is what is in either of two lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func targets(v []byte) (all []string, err error) {
	if v[0] != '[' {
		return nil, errors.New("must be a list of agent names")
	}
	walk := jsonrpc.Elements(v, func(e []byte) bool {
		s, ok := jsonrpc.String(e)
		if !ok {
			err = errors.New("must be a list of agent names")
		}
		all = append(all, s)
		return ok
	})
	return all, errors.Join(err, walk)
}

// find is whose token it is. It compares with all of them, in a time that does not depend on which one it is.
func (t *Tokens) find(token string) (Principal, bool) {
	sum := sha256.Sum256([]byte(token))
	at := 0
	for i := range t.sums {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.sums[i][:]), i+1, at)
	}
	if at == 0 {
		return Principal{}, false
	}
	return t.whose[at-1], true
}

func clip(s string) string { return strings.ToValidUTF8(text.Clip(s, maxName), "\uFFFD") }
