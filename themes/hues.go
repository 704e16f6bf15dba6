package themes

import "hash/fnv"

// Hues is how many colours a palette has to tell servers apart. They are not tokens: files leave them as they are.
const Hues = 6

// Hue is which of them a server of that name has, the same wherever and whenever it is drawn.
func Hue(server string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(server))
	return int(h.Sum32() % Hues)
}
