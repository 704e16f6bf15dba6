package text

import "strconv"

// Count is a number of things in words: "1 tool", "2 tools", "0 tools"; many is for words that do not just take an s:
// Count(2, "entry", "entries").
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case many != nil:
		return strconv.Itoa(n) + " " + many[0]
	}
	return strconv.Itoa(n) + " " + one + "s"
}
