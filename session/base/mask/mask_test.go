package mask

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestValue(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"GITHUB_TOKEN", "abc", "***"},
		{"apiKey", "abc", "***"},
		{"X-Api-Key", "abc", "***"},
		{"DB_PASSWORD", "abc", "***"},
		{"client_secret", "abc", "***"},
		{"Authorization", "Bearer abc", "Bearer ***"},
		{"authorization", "abc def", "***"},
		{"Cookie", "a=b", "***"},
		{"GITHUB_TOKEN", "", ""},
		{"PATH", "/bin", "/bin"},
		{"MONKEY", "see", "see"},
		{"AUTHOR", "me", "me"},
		{"NOTE", "send Bearer abcdefgh now", "send Bearer *** now"},
		{"X", "ghp_0123456789abcdefABCD", "***"},
		{"X", "see eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln", "see ***"},
		{"DATABASE_URL", "postgres://me:pw@host:5432/db?sslmode=off", "postgres://***@host:5432/db?sslmode=off"},
		{"URL", "https://h/p?a=1&access_token=xyz&key=#id_token=q", "https://h/p?a=1&access_token=***&key=#id_token=***"},
		{"URL", "https://h/%zz?to%6ben=1", "https://h/%zz?to%6ben=***"},
		{"URL", "https://a@b@h/x", "https://***@h/x"},
	} {
		if got := Value(c.key, c.value); got != c.want {
			t.Errorf("Value(%q, %q) = %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

// Each word that makes a name a secret's does so alone, in the middle of a name and in capitals; longer words that begin or end like it do not.
func TestWordsOfSecrets(t *testing.T) {
	for _, word := range strings.Fields("key keys auth authorization cookie pat pwd pass sig signature jwt bearer creds dsn assertion verifier token tokens secret password passphrase apikey accesskey privatekey credential credentials") {
		for _, name := range []string{word, "my_" + word + "_1", "X-" + strings.ToUpper(word), "my" + strings.ToUpper(word[:1]) + word[1:]} {
			if !Secret(name) {
				t.Errorf("%s is taken for harmless", name)
			}
		}
	}
	for _, name := range strings.Fields("monkey keyboard author path pattern passenger signal cookies_allowed assert verify max_tokens minTokens count") {
		if Secret(name) {
			t.Errorf("%s is taken for a secret's", name)
		}
	}
	for _, name := range []string{"max_tokens_token", "max-key", "tokens", "maximum_tokens"} {
		if !Secret(name) {
			t.Errorf("%s is taken for harmless", name)
		}
	}
}

func TestArgs(t *testing.T) {
	got := Args([]string{"run", "--token", "abc", "--api-key=abc", "-H", "Authorization: Bearer abc", "-e", "MY_SECRET=abc", "--max-tokens", "100", "--key", "--verbose", "http://u:p@h/", "NAME=x"})
	want := []string{"run", "--token", "***", "--api-key=***", "-H", "Authorization: Bearer ***", "-e", "MY_SECRET=***", "--max-tokens", "100", "--key", "--verbose", "http://***@h/", "NAME=x"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A value has as many lines as it has, may begin like a URL, and may be a pair or JSON itself; what is not one stays.
func TestArgsOfManyForms(t *testing.T) {
	for in, want := range map[string]string{
		"API_KEY=one\ntwo":                         "API_KEY=***",
		"--token=//abc":                            "--token=***",
		"token://host/path":                        "token://host/path",
		"--env=API_KEY=abc":                        "--env=API_KEY=***",
		"--header=X-Api-Key: abc":                  "--header=X-Api-Key: ***",
		"--header=Authorization: Bearer abc":       "--header=Authorization: Bearer ***",
		"--url=https://me:pw@h/?token=x&q=1":       "--url=https://***@h/?token=***&q=1",
		`{"apiKey":"abc","n":1}`:                   `{"apiKey":"***","n":1}`,
		`--config={"brave":{"api_key":"abc"}}`:     `--config={"brave":{"api_key":"***"}}`,
		`{"ghp_0123456789abcdef0123":1}`:           `{"***":1}`,
		`[ "a", "b" ]`:                             `[ "a", "b" ]`,
		"password=$X; curl https://evil.example/x": "password=***",
		"-c":            "-c",
		"--level=debug": "--level=debug",
		"a=b=c":         "a=b=c",
	} {
		assert.Equalf(t, Args([]string{in})[0], want, "%q", in)
	}
}

func TestURLAndHeader(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/p":                          "http://h/p",
		"http://h?a=1&access_token=x#id=2":    "http://h?a=1&access_token=***#id=2",
		"http://h/#access_token=x&state=1":    "http://h/#access_token=***&state=1",
		"https://user@h/":                     "https://***@h/",
		"https://user:p@ss@h:1/x@y":           "https://***@h:1/x@y",
		"/messages?sessionId=1&to%6ben=abc":   "/messages?sessionId=1&to%6ben=***",
		"http://h/?%zz=secret&q=https://x?k=": "http://h/?%zz=***&q=https://x?k=",
	} {
		if got := URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[[2]string]string{
		{"authorization", "Bearer abc"}:        "Bearer ***",
		{"Authorization", "abc"}:               "***",
		{"X-GitHub-Token", "abc def"}:          "***",
		{"Mcp-Session-Id", "abc"}:              "***",
		{"mcp-session-id", "0123456789abcdef"}: "0123…",
		{"Location", "http://h?code=1"}:        "http://h?code=***",
		{"location", "/cb?code=1&state=2"}:     "/cb?code=***&state=2",
		{"Referer", "h/cb#access_token=1&x=2"}: "h/cb#access_token=***&x=2",
		{"DPoP", "abc"}:                        "***",
		{"Dpop", "abc"}:                        "***",
		{"WWW-Authenticate", `Bearer resource_metadata="https://h/x", error="invalid_token"`}: `Bearer resource_metadata="https://h/x", error="invalid_token"`,
		{"X-Said", `"Bearer abcdefgh12=="`}:                                                   `"Bearer ***"`,
		{"WWW-Authenticate", `Bearer realm="x", resource_metadata="https://h/.well-known"`}:   `Bearer realm="x", resource_metadata="https://h/.well-known"`,
	} {
		if got := Header(in[0], in[1]); got != want {
			t.Errorf("Header(%q, %q) = %q, want %q", in[0], in[1], got, want)
		}
	}
}

// Free text loses secrets and nothing else.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"see https://me:pw@h/p?token=x, then go":                                    "see https://***@h/p?token=*** then go",
		`{"url":"https://h/?key=1","n":2}`:                                          `{"url":"https://h/?key=***","n":2}`,
		"the token has expired, log in":                                             "the token has expired, log in",
		"sent token 0123456789abcdef01":                                             "sent token ***",
		"basic\tdXNlcjpwYXNz":                                                       "basic ***",
		"npm_0123456789abcdefghijklmn and xoxb-1234567890":                          "*** and ***",
		"key:\n-----BEGIN PRIVATE KEY-----\nMIIE-v\n-----END PRIVATE KEY-----\nend": "key:\n***\nend",
		"-----BEGIN EC PRIVATE KEY-----\ncut":                                       "***",
		"nothing to hide":                                                           "nothing to hide",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLog(t *testing.T) {
	for in, want := range map[string]string{
		"using token=abc, ok":               "using token=***, ok",
		`API_KEY="a b" PORT=80 pw='x y'`:    `API_KEY="***" PORT=80 pw='x y'`,
		"connect --password=hunter2;retry":  "connect --password=***;retry",
		"token: expired":                    "token: expired",
		`map[password:hunter2-x user:ann]`:  `map[password:*** user:ann]`,
		`{"token": "abc", "n": 1}`:          `{"token": "***", "n": 1}`,
		"API_KEY: a1b2c3":                   "API_KEY: ***",
		"KeyError: 'GITHUB_TOKEN'":          "KeyError: 'GITHUB_TOKEN'",
		"TokenException: 'GITHUB_TOKEN'":    "TokenException: 'GITHUB_TOKEN'",
		"a=b":                               "a=b",
		"https://h/?token=x&n=1":            "https://h/?token=***&n=1",
		"DB_PASSWORD=aB)Y8kQ2m next":        "DB_PASSWORD=*** next",
		"PASSWORD=a]b}c, n":                 "PASSWORD=***, n",
		"API_KEY=[k3yk3yk3y":                "API_KEY=***",
		"API_KEY=[a-1]k3yk3y":               "API_KEY=***",
		"token==abc123def":                  "token==***",
		"if token == nil || token==":        "if token == nil || token==",
		"{API_KEY=[secret-1]} token=***)":   "{API_KEY=[secret-1]} token=***)",
		`API_KEYS=["a", "b"]`:               `API_KEYS=["a", "b"]`,
		"call token=\"abc d\nnext \"x\"":    "call token=\"***\nnext \"x\"",
		"pwd='ab\r\nnext":                   "pwd='***\r\nnext",
		`Unrecognized key: "limit"`:         `Unrecognized key: "limit"`,
		`Unknown key: "max_results", ok`:    `Unknown key: "max_results", ok`,
		"Missing API key: 'TAVILY_API_KEY'": "Missing API key: 'TAVILY_API_KEY'",
		`no password: "DB_PASSWORD_2"`:      `no password: "DB_PASSWORD_2"`,
		`"api_key": "limit"`:                `"api_key": "***"`,
		`password: "hunter2"`:               `password: "***"`,
		`password: "LETMEIN"`:               `password: "***"`,
		`password: "letmein"`:               `password: "***"`,
		`api_key: "A1B2C3D4"`:               `api_key: "***"`,
		`Missing key: "KEY"`:                `Missing key: "KEY"`,
		`key="limit"`:                       `key="***"`,
	} {
		if got := Log(in); got != want {
			t.Errorf("Log(%q) = %q, want %q", in, got, want)
		}
	}
}

// Each shape of token is found, also the shortest that there is, and not one character before.
func TestTokens(t *testing.T) {
	for _, shape := range []string{
		"ghp_0123456789abcdef", "gho_0123456789abcdef", "ghu_0123456789abcdef", "ghs_0123456789abcdef", "ghr_0123456789abcdef",
		"github_pat_0123456789abcdef", "glpat-0123456789abcdef", "sk-0123456789abcdef", "xoxb-0123456789", "xoxs-0123456789",
		"AKIA0123456789AB", "ASIA0123456789AB", "AIza0123456789abcdefghij", "npm_0123456789abcdefghij", "hf_0123456789abcdefghij",
		"eyJ01234567.89abcdef", "Bearer abcdef", "BASIC abcdef", "basic\tabcdef", "token 0123456789abcdef",
	} {
		if got := Text(shape); strings.HasSuffix(got, shape[len(shape)-1:]) || !strings.HasSuffix(got, Hidden) {
			t.Errorf("%q is shown as %q", shape, got)
		}
		if got := Text(shape[:len(shape)-1]); got != shape[:len(shape)-1] {
			t.Errorf("%q is shown as %q", shape[:len(shape)-1], got)
		}
	}
}

func TestListOfURLs(t *testing.T) {
	in := "no server answers: nats://ada:hunter2@a:1,tls://bob:hunter2@b?token=hunter2,nats://c"
	want := "no server answers: nats://***@a:1,tls://***@b?token=***,nats://c"
	assert.Equal(t, Text(in), want)
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"basic information about tokens":                                               "basic information about tokens",
		"use ghp_hunter2hunter2hunter2hunter2 at https://a:b@example.com/?token=x&q=1": "use *** at https://***@example.com/?token=***&q=1",
	} {
		assert.Equalf(t, Prose(in), want, "%q", in)
	}
}

// A head is written line by line in the order of its names, and what is called a secret is hidden whatever it looks like.
func TestHead(t *testing.T) {
	h := http.Header{"X-Corp-Id": {"0815", "4711"}, "Authorization": {"Bearer abcdef"}, "Accept": {"text/plain"}}
	want := "GET /?token=*** HTTP/1.1\nAccept: text/plain\nAuthorization: Bearer ***\nX-Corp-Id: %s\nX-Corp-Id: %s\n"
	assert.Equal(t, string(Head("GET /?token=x HTTP/1.1", h)), fmt.Sprintf(want, "0815", "4711"))
	assert.Equal(t, string(Head("GET /?token=x HTTP/1.1", h, "X-Corp-Id", "Authorization")), fmt.Sprintf(want, Hidden, Hidden))
}
