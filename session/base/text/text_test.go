package text

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""},
		{"", -1, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab…"},
		{"abc", 0, "…"},
		{"abc", -5, "…"},
		{"größe", 3, "gr…"}, // the second byte of ö would be torn
		{"größe", 4, "grö…"},
		{"größe", 7, "größe"},
		{"日本", 5, "日…"},
		{"🙂", 3, "…"},
		{"ab\xff\xfe", 3, "ab\xff…"},
		{strings.Repeat("\x80", 9), 8, strings.Repeat("\x80", 8) + "…"}, // nothing here starts a character
		{"e\u0301x", 3, "e\u0301…"},
	} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q; want %q", c.in, c.n, got, c.want)
		}
		if got, want := Cut(c.in, c.n), strings.TrimSuffix(c.want, "…"); got != want {
			t.Errorf("Cut(%q, %d) = %q; want %q", c.in, c.n, got, want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("größe", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := Clip(s, n)
		if got == s {
			return
		}
		kept, marked := strings.CutSuffix(got, "…")
		if !marked || !strings.HasPrefix(s, kept) || len(kept) > max(n, 0) || len(kept) < n-3 {
			t.Errorf("Clip(%q, %d) = %q", s, n, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Clip(%q, %d) = %q tears a character", s, n, got)
		}
	})
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \n ": "", "one": "one", "one\ntwo": "one", " one \r\n two": "one", "\n\n\tone\rtwo": "one",
	} {
		if got := FirstLine(in); got != want {
			t.Errorf("FirstLine(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 64 << 20: "67.1 MB",
		999_949_999: "999.9 MB", 999_950_000: "1.0 GB", 3e9: "3.0 GB", 5e12: "5000.0 GB",
	} {
		if got := Bytes(in); got != want {
			t.Errorf("Bytes(%d) = %q; want %q", in, got, want)
		}
	}
	assert.Equalf(t, Bytes(1<<20-1), "1.0 MB", "of an int")
}

func TestDuration(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234: "1.23µs", 850_400: "850µs", 45_678_901: "45.7ms", 999_400_000: "999ms", 999_600_000: "1s",
		1_234_567_890: "1.23s", 30 * time.Second: "30s", 83_456 * time.Millisecond: "1m23.5s", 7399 * time.Second: "2h3m20s",
		-1_234_567_890: "-1.23s", math.MaxInt64: "",
	} {
		if in == math.MaxInt64 {
			if got := Duration(in); got == "" || got[0] == '-' {
				t.Errorf("Duration(%d) = %q", in, got)
			}
			continue
		}
		if got := Duration(in); got != want {
			t.Errorf("Duration(%d) = %q; want %q", in, got, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "\n \n": "", "no such file\nat x": "no such file", "\n\n---\n  no such file": "no such file", "Error:\n\nno such file\nbye": "Error: no such file", "**Error:**\n- it is gone": "**Error:** - it is gone",
		"```json\n{\n  \"error\": \"gone\"\n}": `"error": "gone"`, "***": "", "a:\nb:\nc": "a: b:", "日本": "日本", "only:": "only:",
	} {
		assert.Equalf(t, Headline(s), want, "%q", s)
	}
}
