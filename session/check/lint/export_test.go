package lint

// EachLimit calls f for each number that a client has.
func EachLimit(f func(client, about string, most int, prefix, source string)) {
	for _, l := range limits {
		f(l.client, l.about, l.most, l.prefix, l.source)
	}
}

// WordsOf, IconSize and KeyFits are what names and sizes are read by.
var WordsOf, IconSize, KeyFits = wordsOf, iconSize, keyFits
