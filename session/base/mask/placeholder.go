package mask

import (
	"regexp"
	"strings"
	"sync"
)

// What recorded traffic has in the place of secrets.
var (
	wholePlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[a-z][a-z0-9-]*-[0-9]+\]$`) })
	likePlaceholder  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[a-z][a-z0-9-]*-[0-9]+\]`) })
	anyPlaceholder   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[secret-[0-9]+\]`) })
)

// Placeholders are what in a text of recorded traffic stands in the place of another: [email-1] where that is all of it, and each [secret-1].
// Equal ones stand for equal texts, which nobody knows any more.
func Placeholders(s string) []string {
	switch {
	case !strings.Contains(s, "["):
		return nil
	case len(s) < 100 && wholePlaceholder().MatchString(s):
		return []string{s}
	}
	return anyPlaceholder().FindAllString(s, -1)
}

// Placeholder reports whether a text has any.
func Placeholder(s string) bool { return len(Placeholders(s)) > 0 }

// LikePlaceholder reports whether something in a text looks like a placeholder of any name, as rules of a user's give them: "mail to
// [email-1]". People write such, too, so that it is a hint and no more.
func LikePlaceholder(s string) bool {
	return strings.Contains(s, "[") && likePlaceholder().MatchString(s)
}

// Unknown reports whether what a text was is not known any more, because a secret in it was hidden when it was kept.
func Unknown(s string) bool { return strings.Contains(s, Hidden) || Placeholder(s) }
