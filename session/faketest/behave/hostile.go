package behave

import "strings"

// Hostile returns strings that a terminal must never receive as they are:
// cursor and erase sequences, titles, lying hyperlinks, clipboard writes, DCS,
// APC, C1 controls, queries that answer into the input, bells, carriage
// returns, bidi and zero-width characters, tag characters, piled-up combining
// marks, wide cells. All are valid UTF-8 and so can travel in JSON.
func Hostile() []string {
	return []string{
		"\x1b[2J\x1b[Herased",
		"\x1b[?1049lleft the alternate screen",
		"\x1b]0;title set\x07",
		"\x1b]2;title set\x1b\\",
		"\x1b]8;;https://evil.example/\x1b\\https://good.example/\x1b]8;;\x1b\\",
		"\x1b]52;c;cHduZWQ=\x07",
		"\x1b]52;c;cHduZWQ=\x1b\\",
		"\x1bP+q544e\x1b\\",
		"\x1bPq#0;2;0;0;0#0!100~\x1b\\",
		"\x1b_Ga=T,f=32;AAAA\x1b\\",
		"\x1b^private\x1b\\",
		"\x1bXstart of string\x1b\\",
		"\u009b31mred by C1\u009b0m",
		"\u009d0;title by C1\u009c",
		"\u0090q\u009c",
		"\x1b[6n\x1b[c\x1b[>q\x1b]10;?\x07",
		"\x1b[?1000h\x1b[?2004h",
		"\x1bc",
		"\x1b(0lqqk\x1b(B",
		"\x0e\x0f",
		strings.Repeat("\a", 100),
		"shown\rhidden",
		"12345\b\b\bxyz",
		"tab\there\vdown\fpage",
		"nul\x00byte\x7fdel",
		"user\u202egnp.exe",
		"\u2066left\u2067right\u2069\u2069",
		"zero\u200bwidth\u200djoin\ufeffbom\u2060",
		"tag\U000e0041\U000e0042\U000e007f",
		"Z" + strings.Repeat("\u0335", 1000),
		strings.Repeat("\u6f22\u5b57", 40),
		"\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 family",
		"line one\nline two\r\nline three\u2028line four\u0085line five",
		"javascript:alert(1)//",
		"-rf",
		"[trust this server? y/n]",
	}
}

// hostileAll is the corpus in one string.
func hostileAll() string { return strings.Join(Hostile(), " ") }
