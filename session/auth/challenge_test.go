package auth

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestChallengeOf(t *testing.T) {
	for header, want := range map[string]Challenge{
		``:                     {},
		`Bearer`:               {Scheme: "Bearer"},
		`bearer error=a`:       {Scheme: "bearer", Error: "a"},
		`Basic realm="x"`:      {Scheme: "Basic"},
		`Negotiate YWJj==`:     {Scheme: "Negotiate"},
		`, ,Bearer error="a",`: {Scheme: "Bearer", Error: "a"},
		`Bearer error="invalid_token", error_description="a \"b\", c\\", scope="x  y", resource_metadata="https://a.example/?b=c,d"`: {
			Scheme: "Bearer", Error: "invalid_token", Describe: `a "b", c\`, Scopes: []string{"x", "y"}, Metadata: "https://a.example/?b=c,d",
		},
		`Bearer ERROR = "a" ,Scope = b`:                     {Scheme: "Bearer", Error: "a", Scopes: []string{"b"}},
		`Bearer error="a" scope="b"`:                        {Scheme: "Bearer", Error: "a", Scopes: []string{"b"}}, // without a comma, as some do
		`Bearer error="a", error="b"`:                       {Scheme: "Bearer", Error: "a"},
		`Negotiate YWJj, Bearer error="a"`:                  {Scheme: "Bearer", Error: "a"},
		`Negotiate, Basic realm="Bearer", Bearer scope="b"`: {Scheme: "Bearer", Scopes: []string{"b"}},
		`Bearer scope="a", DPoP algs="ES256", scope="b"`:    {Scheme: "DPoP", Scopes: []string{"b"}},
		`DPoP scope="b", Bearer scope="a"`:                  {Scheme: "DPoP", Scopes: []string{"b"}},
		`Bearer error="a", scope="b`:                        {Scheme: "Bearer", Error: "a"}, // cut off
		`Bearer error="a", scope="b\`:                       {Scheme: "Bearer", Error: "a"},
		`Bearer error="a", =b`:                              {Scheme: "Bearer", Error: "a"},
		`Bearer error=, scope="b"`:                          {Scheme: "Bearer", Scopes: []string{"b"}},
		`Bearer scope=""`:                                   {Scheme: "Bearer"},
		`error="a"`:                                         {},
		"Bearer error=\"a\xff\"":                            {Scheme: "Bearer", Error: "a\xff"},
	} {
		want.Status, want.Header = http.StatusUnauthorized, header
		got := challengeOf(&http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{"Www-Authenticate": {header}}})
		if got.Header = header; !slices.Equal(got.Scopes, want.Scopes) {
			t.Errorf("%s: scopes %q", header, got.Scopes)
		}
		got.Scopes = want.Scopes
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v", header, got)
		}
	}
}

// written is a header with those challenges, as RFC 9110 wants it.
func written(all []challenge) string {
	var each []string
	for _, c := range all {
		var params []string
		for _, name := range slices.Sorted(maps.Keys(c.params)) {
			params = append(params, name+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.params[name])+`"`)
		}
		each = append(each, strings.TrimSpace(c.scheme+" "+strings.Join(params, ", ")))
	}
	return strings.Join(each, ", ")
}

// What is found in a header is found again when it is written properly, and what a server writes is found whatever stands before it.
func FuzzChallenges(f *testing.F) {
	for _, header := range []string{
		``, `Bearer`, `Bearer error="a", scope="b c"`, `Basic realm="a, Bearer scope=\"b\""`, `Negotiate YWJj==, DPoP algs="ES256"`, `Bearer a=b c=d,,e="`, `=,"\`,
	} {
		f.Add(header, "https://a.example/.well-known/oauth-protected-resource")
	}
	f.Fuzz(func(t *testing.T, header, value string) {
		all := challenges(header)
		for _, c := range all {
			if word, rest := token(c.scheme); word == "" || rest != "" {
				t.Errorf("the scheme %q", c.scheme)
			}
			for name := range c.params {
				if word, rest := token(name); word == "" || rest != "" || name != strings.ToLower(name) {
					t.Errorf("the name %q", name)
				}
			}
		}
		if again := challenges(written(all)); !reflect.DeepEqual(again, all) {
			t.Errorf("%q is %q, and written as %q it is %q", header, all, written(all), again)
		}
		mine := challenge{"Bearer", map[string]string{"resource_metadata": value}}
		if both := challenges(written(append(slices.Clone(all), mine))); len(both) != len(all)+1 || !reflect.DeepEqual(both[len(all)], mine) {
			t.Errorf("after %q: %q", written(all), both)
		}
	})
}
