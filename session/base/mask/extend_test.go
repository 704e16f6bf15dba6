package mask

import (
	"regexp"
	"strings"
	"testing"
)

func TestExtend(t *testing.T) {
	Extend([]string{"X-Corp-*", "pin"}, []*regexp.Regexp{regexp.MustCompile(`corp_[0-9a-f]{4}`)})
	defer Extend(nil, nil)
	for _, name := range []string{"X-Corp-Id", "x-corp-session", "PIN"} {
		if !Secret(name) || Value(name, "12") != Hidden || Header(name, "12") != Hidden {
			t.Errorf("%s is no secret", name)
		}
	}
	if got := strings.Join(Args([]string{"--pin=1", "--pin", "2", "--x-corp-id", "3"}), " "); got != "--pin=*** --pin *** --x-corp-id ***" {
		t.Errorf("flags become %s", got)
	}
	if Secret("pinned") || Secret("y-x-corp") {
		t.Error("too much is a secret")
	}
	for in, want := range map[string]string{
		`id corp_00ff and corp_zz`: `id *** and corp_zz`,
		`corp_00ff`:                `***`,
		`{"pin":"12","n":{"x-corp-a": "b\"c","d":1}}`: `{"pin":"***","n":{"x-corp-a": "***","d":1}}`,
		`{"pin": 12, "spin": 3}`:                      `{"pin": "***", "spin": 3}`,
		`X-Corp-Id: 77`:                               `X-Corp-Id: ***`,
		`https://h/p?pin=12&q=corp_00ff`:              `https://h/p?pin=***&q=***`,
		`nothing`:                                     `nothing`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	Extend(nil, nil)
	if Secret("pin") || Text("corp_00ff") == Hidden {
		t.Error("it does not end")
	}
}

func TestExtra(t *testing.T) {
	in := []byte(`{"pin":"1","token":"ghp_0123456789abcdef0123"}`)
	if got := Extra(in); string(got) != string(in) {
		t.Errorf("without rules: %s", got)
	}
	Extend([]string{"pin"}, nil)
	defer Extend(nil, nil)
	if got := Extra(in); string(got) != `{"pin":"***","token":"ghp_0123456789abcdef0123"}` {
		t.Errorf("%s", got)
	}
}
