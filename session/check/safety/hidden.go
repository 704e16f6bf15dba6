package safety

import (
	"fmt"
	"strings"
	uni "unicode"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
)

// checkHidden reports characters that nobody sees, and returns the text without them, with what tag characters spell at its end, so that orders
// are found there too. Each of the four rules names the first character that it found. Tabs and carriage returns become blanks.
func (x *examination) checkHidden(s fragment) string {
	clean := true // printable ASCII and ends of lines; what is, is returned as it came
	for i := range len(s.text) {
		if c := s.text[i]; c >= 0x7f || c < ' ' && c != '\n' {
			clean = false
			break
		}
	}
	if clean {
		return s.text
	}
	var out, spelled strings.Builder
	var control, bidi, invisible, selectors string
	runes := []rune(s.text)
	at := func(i int) rune {
		if i >= 0 && i < len(runes) {
			return runes[i]
		}
		return 0
	}
	// flag is where the tags of the last flag end; run counts the variation selectors in a row.
	flag, run := -1, 0
	for i, r := range runes {
		if r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef {
			// One selector says how the character before it is drawn; the supplement's are for ideographs. More draws nothing.
			if run++; run > 1 || r >= 0xe0100 && !uni.Is(uni.Han, at(i-1)) {
				selectors = first(selectors, r)
			}
			continue
		}
		run = 0
		switch {
		case r == 0x1f3f4:
			flag = i + flagTags(runes[i+1:])
			out.WriteRune(r)
		case i <= flag:
		case r >= 0xe0000 && r <= 0xe007f:
			if r >= 0xe0020 && r < 0xe007f { // ASCII, moved up by U+E0000
				spelled.WriteRune(r - 0xe0000)
			}
			selectors = first(selectors, r)
		case r == '\r' && at(i+1) != '\n' && at(i+1) != 0: // the line begins anew, over what it said
			control = first(control, r)
		case r == '\t' || r == '\r':
			out.WriteRune(' ')
		case r == '\n':
			out.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			control = first(control, r)
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069: // embeddings, overrides and isolates; marks (U+200E, U+200F) are left alone
			bidi = first(bidi, r)
		case r == 0x200c || r == 0x200d: // they join letters of many scripts, and emoji
			if ascii(at(i-1)) && ascii(at(i+1)) {
				invisible = first(invisible, r)
			}
		// A soft hyphen (U+00AD) counts in names only.
		case r == 0x200b || r == 0x2060 || r == 0x180e || r == 0xad && s.name || r == 0xfeff || r >= 0x2061 && r <= 0x2064 || r == 0x34f || r == 0x2028 || r == 0x2029 || r >= 0xfff9 && r <= 0xfffb || r >= 0x1d173 && r <= 0x1d17a || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0:
			invisible = first(invisible, r)
		default:
			out.WriteRune(r)
		}
	}
	evidence := printable(s.text)
	if control != "" {
		x.add("terminal-escapes", check.Finding{Place: s.at, Message: "has the control character " + control, Evidence: evidence})
	}
	if bidi != "" {
		x.add("reordered-text", check.Finding{Place: s.at, Message: "has " + bidi + ", which turns the direction of text", Evidence: evidence})
	}
	if selectors != "" {
		msg := "has " + selectors + ", which no screen shows"
		if spelled.Len() > 0 {
			msg = fmt.Sprintf("hides the words %q", text.Clip(spelled.String(), 100))
		}
		x.add("hidden-text", check.Finding{Place: s.at, Message: msg, Evidence: evidence})
	}
	if invisible != "" {
		f := check.Finding{Place: s.at, Message: "has " + invisible + ", which no screen shows", Evidence: evidence}
		if s.name { // of two things that look the same one may be called for the other
			x.r.AddSeverity(check.Error, "safety/invisible-characters", f)
		} else {
			x.add("invisible-characters", f)
		}
	}
	if spelled.Len() > 0 {
		out.WriteString(" " + spelled.String())
	}
	return out.String()
}

// flagTags is how many of the characters behind a black flag are the tags of a flag that screens have, with the one that ends it: those of England,
// Scotland and Wales. Any others show the black flag, and are text that nobody sees.
// https://unicode.org/Public/emoji/latest/emoji-sequences.txt (RGI_Emoji_Tag_Sequence)
func flagTags(behind []rune) int {
	for _, name := range []string{"gbeng", "gbsct", "gbwls"} {
		n := len(name)
		if len(behind) <= n || behind[n] != 0xe007f {
			continue
		}
		same := true
		for i, r := range name {
			same = same && behind[i] == 0xe0000+r
		}
		if same {
			return n + 1
		}
	}
	return 0
}

// first is what was found before, else r as U+200B.
func first(had string, r rune) string {
	if had != "" {
		return had
	}
	return fmt.Sprintf("%U", r)
}

// ascii reports whether there is a character, and no script that joiners are for has it.
func ascii(r rune) bool { return r > 0 && r < 0x80 }

// checkLetters reports names that mix letters of scripts that look alike. name is what is visible of the fragment. A name of one other script is
// none, but mathematical and full-width letters are Latin ones in disguise also where there is nothing else.
func (x *examination) checkLetters(s fragment, name string) {
	latin, other := false, rune(0)
	for _, r := range name {
		switch {
		case r < 0x80:
			latin = latin || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		case r >= 0x1d400 && r <= 0x1d7ff || r >= 0xff21 && r <= 0xff5a: // mathematical and full-width letters
			other, latin = r, true
		case uni.In(r, uni.Cyrillic, uni.Greek, uni.Armenian, uni.Cherokee):
			other = r
		}
	}
	if latin && other != 0 {
		x.add("look-alike-letters", check.Finding{
			Place: s.at, Sure: check.Likely, Message: fmt.Sprintf("%s has %U among Latin letters", printable(text.Clip(s.text, 100)), other), Evidence: printable(s.text),
		})
	}
}

// skeleton returns a name without what people overlook, so that names that look alike are equal, as the skeletons of UTS #39 are; the table is
// lookAlike's and not that of Unicode. It is for comparing only: case, separators, accents and what nobody sees are gone.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if to, ok := lookAlike(r); ok {
			r = to
		}
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ' || r == '/':
		case r >= 0x200b && r <= 0x200f || r == 0xfeff || r == 0x2060 || r >= 0xe0000 && r <= 0xe01ef || uni.Is(uni.Mn, r):
		case r >= 0xff41 && r <= 0xff5a:
			b.WriteRune(r - 0xff41 + 'a')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// lookAlike returns the Latin letter that a character in lower case looks like: a digit, a Cyrillic or a Greek letter.
func lookAlike(r rune) (rune, bool) {
	// The nth character of one stands for the nth of the other.
	const from, to = "0156" + "абвеёіјкмнорсԁѕтухԛԝ" + "αβγεικνορτυχω", "olsb" + "abbeeijkmhopcdstyxqw" + "abyeiknoptuxw"
	if i := strings.IndexRune(from, r); i >= 0 {
		n := len([]rune(from[:i]))
		return []rune(to)[n], true
	}
	return r, false
}
