package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// After each attack the next call must work, whatever became of the worker.
func works(t *testing.T, s *Sandbox, after string) {
	t.Helper()
	if res := do(t, s, "1 + 1"); string(res.Result) != "2" {
		t.Fatalf("after %.60s: %+v", after, res)
	}
}

// slow skips what takes minutes when the engine itself is built with the race detector, and overflows its stack. The
// agent's side, which has the concurrency, is the same as in the other tests.
func slow(t *testing.T) {
	t.Helper()
	if budget.Race() {
		t.Skip("the engine is too slow under the race detector")
	}
}

// some are every third of these cases, unless all are asked for: each needs a worker of its own, or most of its memory.
func some(cases ...string) []string {
	if budget.All() {
		return cases
	}
	var few []string
	for i := 0; i < len(cases); i += 3 {
		few = append(few, cases[i])
	}
	return few
}

func TestEndlessCodeIsKilled(t *testing.T) {
	s := open(t, Options{})
	for _, code := range some(
		`for (;;);`,
		`/^(a+)+$/.test("a".repeat(40) + "b")`,
		`/(x+x+)+y/.exec("x".repeat(60))`,
		`const s = "x".repeat(1e6); for (;;) s.normalize("NFKD")`,
		`(function again() { Promise.resolve().then(again) })()`,
		`(function again() { setTimeout(again) })()`,
		`await new Promise(r => setTimeout(r, 1e12))`,
		`for (;;) try { for (;;); } catch {} finally { continue }`,
		`({toJSON() { for (;;); }})`,
		`new Proxy({}, {ownKeys() { for (;;); }})`,
		`[].concat(new Proxy([], {get: (t, k) => k == "length" ? 2**53 - 1 : 0}))`,
		`({get a() { for (;;); }})`,
		`throw {get message() { for (;;); }}`,
		`console.log({toJSON() { for (;;); }})`,
		`const p = {then(f) { f(p) }}; await p`,
		`new Function("for (;;);")()`,
		`Array.from({length: 1e9}, () => 0).length`,
		`for (;;) console.log("x".repeat(1000))`,
	) {
		start := time.Now()
		res, err := s.Run(t.Context(), code, 50*time.Millisecond)
		f, ok := jsonrpc.AsRequestError(err)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: ended after %v", code, d)
		}
		if !ok || f.Kind != jsonrpc.KindTimeout || f.Data["phase"] != "running" {
			t.Errorf("%s: %+v %v", code, res, err)
		}
		works(t, s, code)
	}
}

func TestGreedyCodeFails(t *testing.T) {
	slow(t)
	t.Parallel()
	s := open(t, Options{})
	if !budget.All() {
		s.memory = Memory / 4 // filling it takes most of the time
	}
	for _, code := range some(
		`const a = []; for (;;) a.push(new Array(1000))`,
		`const m = new Map(); for (let i = 0; ; i++) m.set(i, i)`,
		`globalThis.a = []; for (;;) a.push({})`,
		`"x".repeat(2e8).length`,
		`let s = "x".repeat(2e7); const a = []; for (let i = 0; ; i++) a.push(s + i)`,
		`new Array(1e8).fill(1).length`,
		`new Array(2**32 - 2).fill(0)`,
		`new ArrayBuffer(2**33)`,
		`new SharedArrayBuffer(2**31 - 1)`,
		`const a = []; for (;;) a.push(new ArrayBuffer(1e6))`,
		`2n ** (2n ** 40n)`,
		`"x".repeat(1e7).split("")`,
		`"".padEnd(2**29)`,
		`function f() { f() } f()`,
		`function f() { return [f()] } JSON.stringify(f())`,
		`let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a`,
		`let a = []; for (let i = 0; i < 600; i++) a = [a]; a`,
		`let a = []; for (let i = 0; i < 1e5; i++) a = {a}; JSON.stringify(a)`,
		`JSON.parse("[".repeat(1e6))`,
		`eval("(".repeat(1e6))`,
		`new RegExp("(".repeat(1e5))`,
		`const o = {toJSON() { return [o] }}; o`,
		`class A { get [Symbol.toStringTag]() { return this + "" } } new A() + ""`,
	) {
		res, err := s.Run(t.Context(), code, 20*time.Second)
		s.memory = Memory / 4 // the whole of it was filled once
		if err != nil || res.Error == nil || res.Error.Message == "" {
			t.Errorf("%s: %.300v %v", code, res, err)
		}
		works(t, s, code)
	}
}

// However the memory is filled, the answer says that it was.
func TestT1_OutOfMemoryIsSaid(t *testing.T) {
	slow(t)
	t.Parallel()
	s := open(t, Options{})
	for _, code := range some(
		`let a=[];for(;;)a.push(new Array(1e4).fill(1))`,
		`let a=[];for(;;)a.push(new Array(1e5).fill(1))`,
		`let a=[];for(;;)a.push(new Array(1e6).fill(1))`,
		`let a=[];for(;;)a.push(new Uint8Array(1e6))`,
		`let a=[];try{for(;;)a.push(new Array(1e5).fill(1))}catch(e){a.length;throw e}`,
	) {
		res := do(t, s, code)
		if res.Error == nil || res.Error.Name != "InternalError" || res.Error.Message != "out of memory" {
			t.Errorf("%s: %+v", code, res)
		}
		works(t, s, code)
	}
}

func TestCallsDoNotSeeEachOther(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	do(t, s, `Object.prototype.polluted = 1; Array.prototype.toJSON = () => "evil"; globalThis.left = 2;
		JSON.stringify = () => "evil"; Promise.prototype.then = null; Function.prototype.call = null; console.log = null`)
	before := s.idle[0].cmd.Process.Pid
	res := do(t, s, `console.log("here"); [typeof globalThis.left, ({}).polluted, [1].toJSON, JSON.stringify(1)]`)
	if string(res.Result) != `["undefined",null,null,"1"]` || len(res.Console) != 1 {
		t.Errorf("%s %v", res.Result, res.Console)
	}
	assert.Equalf(t, s.idle[0].cmd.Process.Pid, before, "the calls ran in different workers, which proves nothing")
}

// What code does to its own engine must not reach what the prelude reports.
func TestTamperingChangesNothing(t *testing.T) {
	s := open(t, Options{})
	for _, code := range []string{
		`JSON.stringify = () => "{"; "safe"`,
		`Reflect.apply = () => { throw 1 }; String.prototype.slice = null; "safe"`,
		`Promise.prototype.then = () => {}; Promise.resolve = null; "safe"`,
		`Object.defineProperty(Object.prototype, "state", {get() { return "failed" }, set() {}}); "safe"`,
		`delete globalThis.console; delete globalThis.setTimeout; "safe"`,
		`globalThis.$host = () => 1; "safe"`,
		`Object.freeze(globalThis); Object.freeze(Object.prototype); Object.freeze(Array.prototype); "safe"`,
		`Error.prototype.toString = null; Symbol.prototype.toString = null; "safe"`,
	} {
		if res := do(t, s, code); string(res.Result) != `"safe"` {
			t.Errorf("%s: %s %+v", code, res.Result, res.Error)
		}
	}
	if res := do(t, s, `Function("return this")() === globalThis && Function("return typeof $host + typeof require")()`); string(res.Result) != `"undefinedundefined"` {
		t.Errorf("%s", res.Result)
	}
}

func TestOutputIsCapped(t *testing.T) {
	slow(t)
	t.Parallel()
	s := open(t, Options{})
	for _, code := range some(
		`for (let i = 0; i < 1e4; i++) console.log("x".repeat(1000)); 1`,
		`console.log("\0".repeat(5e6)); 1`,
		`console.log(...Array(2000).fill("ü".repeat(1e4))); 1`,
		`for (let i = 0; i < 1e5; i++) console.log(); 1`,
		`"x".repeat(5e6)`,
		`Array(3e5).fill('"\\')`,
		`throw new Error("x".repeat(3e7))`,
		`const e = new Error("x"); e.stack = "y".repeat(3e7); throw e`,
		`const f = () => 1; Object.defineProperty(f, "name", {value: "n".repeat(2e7)}); console.log(f); 1`,
	) {
		res := do(t, s, code)
		raw, err := json.Marshal(res)
		if err != nil || len(raw) > 2*Output {
			t.Errorf("%s: %d bytes, %v", code, len(raw), err)
		}
		if res.Error == nil && !res.Truncated {
			t.Errorf("%s: not said to be truncated", code)
		}
	}
	res := do(t, s, `"ü".repeat(1e6)`)
	var text string
	if err := json.Unmarshal(res.Result, &text); err != nil || !strings.HasPrefix(text, `"üüü`) || strings.ContainsRune(text, '\ufffd') {
		t.Errorf("%.60q %v", text, err)
	}
	if res := do(t, s, `"x".repeat(1e6)`); res.Truncated || len(res.Result) != 1e6+2 {
		t.Errorf("a result of %d bytes was cut", len(res.Result))
	}
}
