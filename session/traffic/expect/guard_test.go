package expect

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

// One step that would make very much of little is refused before it begins.
func TestStepIsBounded(t *testing.T) {
	const nested = `def d: [.,.,.,.,.,.,.,.]; 1|d|d|d|d|d|d|d|d|d|d|d|d`
	for _, text := range []string{
		`"a" * 1000000000`, `1000000000 * "a"`, `{a: "a"} | .a *= 1e9`, `try ("a" * 1e9) catch error(.)`,
		`("a" * 1e6) as $s | [range(1000) | $s] | add`, `("a" * 1e6) as $s | add(range(1000) | $s)`, `("a" * 1e6) as $s | [range(1000)|"b"] | join($s)`,
		`("a" * 5e6) / ""`, `("a" * 5e6) | split("")`, `("a" * 5e6) | explode`, `("a" * 5e6) | indices("a")`,
		`("[" + "0," * 4e6 + "0]") | fromjson`,
		nested + `|tojson`, nested + `|"\(.)"`, nested + `|@html "\(.)"`, nested + `|flatten`,
		`.[100000000] = 1`, `.[100000000] |= 1`, `.[100000000] += 1`, `setpath([100000000]; 1)`, `setpath(["a", range(3) | 100000000]; 1)`, `pick(.[100000000])`,
		`fromstream([[100000000], 1], [[100000000]])`, `.a.b[100000000].c = 1`,
		`("a" * 3e5) | gsub(""; "b")`, `("a" * 3e5) | [match(""; "g")]`, `("a" * 3e5) | [scan(".")]`, `("a" * 3e5) | [splits("")]`,
	} {
		q := query(t, text)
		q.bound.time = 5 * time.Minute
		if ok, got := q.Holds(t.Context(), nil); ok || got != "an error: "+errMemory.Error() {
			t.Error(text, ok, got)
		}
	}
	if v, err := query(t, nested).Value(t.Context(), nil); !errors.Is(err, errMemory) {
		t.Errorf("%d bytes, %v", len(v), err)
	}
	if _, got := query(t, nested+"|error").Holds(t.Context(), nil); !strings.HasPrefix(got, "an error: [[[[") || len(got) > 2*maxPreview {
		t.Errorf("%.300s", got)
	}
	for _, text := range []string{`_multiply("a"; 1e9)`, `_setpath0([1e8]; 1)`, `_room_text`, `def _tojson0: 1; _tojson0`} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "function not defined") {
			t.Error(text, err)
		}
	}
}

// Everything else gives what jq gives.
func TestGuardChangesNothing(t *testing.T) {
	value := map[string]any{
		"n": 3, "s": "a,b,c", "list": []any{3, 1, []any{2}}, "o": map[string]any{"x": "1", "y": []any{"p", "q"}}, "words": []any{"u", "v", nil, 1},
	}
	for _, text := range []string{
		`.n * 2`, `(1,2) * (3,4)`, `(8,4) / (2,1)`, `"ab" * 3`, `"ab" * 0`, `"ab" * -1`, `{a:{b:1}} * {a:{c:2}}`, `[] * 2`, `.s / ","`, `1 / 0`, `[1] / [2]`, `"a" / 1`,
		`.n *= 4`, `.n /= 2`, `.list[.n * 0] = (5, 6)`, `.list[1 * 1] |= empty`, `path(.list[1 * 2])`, `[paths(type == "number" and . * 2 > 2)]`, `.o.y[5] = 1`, `.o["z"].w |= 7`,
		`(.n, .s) = (1, 2)`, `.list[0] += 1`, `.nope //= 3`, `setpath(["o","x"]; 1,2)`, `setpath([("a","b")]; (1,2))`, `setpath("x"; 1)`, `.list[-9] = 1`, `.list[1:] = ["z"]`,
		`pick(.o.x, .list[1])`, `fromstream(tostream)`, `del(.o.x)`, `.words | add`, `.words | map(strings) | add`, `add(.list[0], .n)`, `.words | join("-", "+")`, `.n | join(",")`, `{} | add`,
		`.s | split(",", "b")`, `.s | explode`, `.s | indices(",")`, `.list | indices(1)`, `.s | split(1)`, `tojson`, `.o | tostring`, `"x\(.o)y\(.n * 2)"`, `@json "x\(.o)"`, `@html`,
		`@html "<\(.s)>"`, `.words | @csv`, `.words | @sh`, `@base64 "\(.s)"`, `.s | @uri`, `format("json")`, `format("nope")`, `.list | flatten`, `.list | flatten(0, 1)`, `.list | flatten(-1)`,
		`"[1,{\"a\":2}]" | fromjson`, `"[" | fromjson`, `.s | [match("[a-c]"; "g").string]`, `.s | match("(?<x>b)")`, `.s | match(["B", "i"]).offset`, `.s | capture("(?<x>b)")`, `.s | [scan("[a-c]")]`,
		`.s | [splits(",")]`, `.s | split(",+"; null)`, `.s | sub(","; "-", "+")`, `.s | gsub("(?<l>[a-c])"; "\(.l)\(.l)")`, `.s | gsub("B"; "-"; "i")`, `.s | test("B"; "i")`, `.s | match("("; "g")`,
		`.n | match("a"; "g")`, `def _f: if . > 0 then . - 1 | _f else "end" end; .n | _f`, `def f(_g): _g * 2; f(.n)`, `walk(if type == "number" then . * 2 else . end)`, `[limit(3; repeat(1))]`,
		`reduce range(5) as $i (1; . * 2)`, `with_entries(.value |= tojson)`, `map_values(tojson)`, `.s as $x | {"\($x)": 1}`, `."\("n")"`, `to_entries | group_by(.value | type) | map(length)`,
	} {
		plain, err := gojq.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		all := func(it gojq.Iter) (out string) {
			for {
				v, ok := it.Next()
				if !ok {
					return out
				}
				if err, failed := v.(error); failed {
					return out + " error: " + err.Error()
				}
				b, err := gojq.Marshal(v)
				out += fmt.Sprint(" ", string(b), err)
			}
		}
		want := all(plain.Run(value))
		q, err := Parse(text)
		if err != nil {
			t.Error(text, err)
			continue
		}
		assert.Equalf(t, all(q.code.Run(value)), want, "%s", text)
	}
}

// A step that takes long and makes nothing is left to itself when the time is over.
func TestLongStepIsLeft(t *testing.T) {
	q := query(t, `def d: [.,.,.,.,.,.,.,.]; (1|d|d|d|d|d|d|d|d) as $x | (1|d|d|d|d|d|d|d|d) | . == $x`)
	q.bound.time = 10 * time.Millisecond
	if ok, got := q.Holds(t.Context(), nil); ok || got != "an error: "+errTime.Error() {
		t.Error(ok, got)
	}
}
