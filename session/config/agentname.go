package config

// NameRule says in words which names agents can have.
const NameRule = "letters, digits, dots, underscores and dashes, at most 64, a letter or digit first"

// maxName is how many bytes a name has at most; all of them are ASCII.
const maxName = 64

// ValidName reports whether an agent can have that name, see [NameRule]: it stands in paths of the router.
func ValidName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}
