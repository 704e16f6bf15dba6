package browser

import (
	"net/url"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestPastedTexts(t *testing.T) {
	redirect := &url.URL{Scheme: "http", Host: "127.0.0.1:4711", Path: "/callback"}
	const whole = "http://127.0.0.1:4711/callback?code=c&state=s"
	for text, want := range map[string]string{
		whole:                                    whole,
		"<" + whole + ">":                        whole,
		whole + "#_=_":                           whole,
		"127.0.0.1:4711/callback?code=c&state=s": whole,
		"localhost:4711/callback?code=c&state=s": whole,
		"?code=c&state=s":                        whole,
		"code=c&state=s":                         whole,
		"c#s":                                    whole,
		"c?s":                                    whole,
		"error=access_denied&state=s":            "http://127.0.0.1:4711/callback?error=access_denied&state=s",
		"":                                       "",
		"c":                                      "",
		"code=c":                                 "",
		"#":                                      "",
		"http://127.0.0.1:4712/callback?code=c&state=s": "",
		"http://127.0.0.1:4711/other?code=c&state=s":    "",
		"https://login.example.com/authorize?state=s":   "",
		"javascript:alert(1)?code=c&state=s":            "",
		"http://127.0.0.1:4711/callback":                "",
		"code=c&state=s;x=%zz":                          "",
	} {
		got := ""
		if u, err := parsePasted(text, redirect); err == nil {
			got = u.String()
		}
		assert.Equalf(t, got, want, "%q", text)
	}
}
