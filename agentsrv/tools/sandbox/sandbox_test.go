package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check/checktest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// open is a sandbox that ends with the test.
func open(t testing.TB, o Options) *Sandbox {
	t.Helper()
	s := New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// do runs code that must end by itself.
func do(t testing.TB, s *Sandbox, code string) Result {
	t.Helper()
	res, err := s.Run(t.Context(), code, 20*time.Second)
	if err != nil {
		t.Fatalf("%.80s: %v", code, err)
	}
	return res
}

// call uses the tool as the server does.
func call(t testing.TB, s *Sandbox, args string) (*mcp.CallToolResult, error) {
	t.Helper()
	return checktest.Call(t, s.Tools()[0], args)
}

func TestResults(t *testing.T) {
	s := open(t, Options{})
	for code, want := range map[string]string{
		`1 + 1`:                   `number 2`,
		`"a" + 'ü🙂'`:              `string "aü🙂"`,
		`const a = 3;`:            `undefined `,
		``:                        `undefined `,
		`null`:                    `object null`,
		`await 5; 7`:              `number 7`,
		`({b: 1, a: [true]})`:     `object {"b":1,"a":[true]}`,
		`9007199254740993n`:       `bigint "9007199254740993"`,
		`({n: [12n]})`:            `object {"n":["12"]}`,
		`Symbol("x")`:             `symbol "Symbol(x)"`,
		`({[Symbol("x")]: 1})`:    `object {}`,
		`(a) => a`:                `function "(a) => a"`,
		`0/0`:                     `number "NaN"`,
		`-1/0`:                    `number "-Infinity"`,
		`[undefined, NaN]`:        `object [null,null]`,
		`"\ud800"`:                `string "\\ud800"`,
		`"\\ud800"`:               `string "\\ud800"`,
		`({"\udfff": "a\\"})`:     `object {"\\udfff":"a\\"}`,
		`Promise.resolve({v: 1})`: `object {"v":1}`,
		`(async () => { await null; return [1] })()`:                                                  `object [1]`,
		`new Promise(r => setTimeout(r, 5, "late"))`:                                                  `string "late"`,
		`[Promise.resolve(1)]`:                                                                        `object [{}]`,
		`({then(f) { f(3) }})`:                                                                        `object {}`,
		`await Promise.all([1, Promise.resolve(2)])`:                                                  `object [1,2]`,
		`await new Promise(r => setTimeout(r, 5, "late"))`:                                            `string "late"`,
		`let o = []; setTimeout(() => o.push(2), 9); setTimeout(() => o.push(1), 1); o`:               `object [1,2]`,
		`let n = 0; clearTimeout(setTimeout(() => n++, 0)); await new Promise(r => setTimeout(r)); n`: `number 0`,
		`async function* g() { yield 1; yield 2 } let s = 0; for await (const x of g()) s += x; s`:    `number 3`,
		`({toJSON() { return this.x }, x: 4})`:                                                        `object 4`,
		`let i = 0; ({get a() { return ++i }})`:                                                       `object {"a":1}`,
		`new Proxy([1, 2], {})`:                                                                       `object [1,2]`,
		`new Function("return 6*7")()`:                                                                `number 42`,
		`new Date(0).toISOString()`:                                                                   `string "1970-01-01T00:00:00.000Z"`,
		`new Date(2020, 0, 1).getTimezoneOffset()`:                                                    `number 0`,
		`[typeof require, typeof process, typeof fetch, typeof std, typeof os, typeof Deno, typeof Intl, typeof $host, typeof print, typeof XMLHttpRequest].join()`: `string "` + strings.Repeat("undefined,", 9) + `undefined"`,
		`Object.keys(globalThis).join()`: `string ""`,
	} {
		res := do(t, s, code)
		if got := res.Type + " " + string(res.Result); got != want || res.Error != nil || len(res.Console) != 0 || res.Truncated {
			t.Errorf("%s: %q, want %q (%+v)", code, got, want, res)
		}
	}
}

func TestT1_ExecuteCode(t *testing.T) {
	s := open(t, Options{})
	r, err := call(t, s, `{"code":"1 + 1"}`)
	if err != nil || r.IsError {
		t.Fatal(r, err)
	}
	var res Result
	text := r.Content[0].(mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &res); err != nil || string(res.Result) != "2" || string(r.RawStructuredContent) != text {
		t.Error(text, err)
	}
	_, err = call(t, s, `{"code":"for(;;);","timeout":50}`)
	f, ok := jsonrpc.AsRequestError(err)
	if !ok || f.Code(false) != -32003 || f.Code(true) != -31003 || f.Data["phase"] != "running" {
		t.Errorf("%+v", err)
	}
	r, err = call(t, s, `{"code":"new Uint8Array(1e8)"}`)
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(mcp.TextContent).Text, "out of memory") {
		t.Errorf("%+v %v", r, err)
	}
	for _, code := range []string{`require("fs")`, `process.env`, `fetch("http://127.0.0.1")`, `await import("std")`, `await import("/etc/passwd")`, `import os from "os"`} {
		args, _ := json.Marshal(map[string]any{"code": code})
		if r, err := call(t, s, string(args)); err != nil || !r.IsError {
			t.Errorf("%s: %+v %v", code, r, err)
		}
	}
	for _, args := range []string{`{}`, `{"code":1}`, `{"code":"1","timeout":0}`, `{"code":"1","timeout":60001}`, `{"code":"1","timeout":1e300}`, `{"code":"` + strings.Repeat(" ", MaxCode+1) + `"}`} {
		r, err := call(t, s, args)
		if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindInvalidParams {
			t.Errorf("%.40s: %+v %v", args, r, err)
		}
	}
}

func TestThrown(t *testing.T) {
	s := open(t, Options{})
	for code, want := range map[string]Thrown{
		"function f() { throw new TypeError('deep') }\nf()": {"TypeError", "deep", "    at f (code:1:35)\n    at code (code:2:2)"},
		`let 1`:                             {"SyntaxError", "expecting ';'", "    at code:1:5"},
		`throw "text"`:                      {"Error", `the code threw "text"`, ""},
		`throw null`:                        {"Error", `the code threw null`, ""},
		`throw {a: 1}`:                      {"Error", `the code threw {"a":1}`, ""},
		`throw {get message() { throw 1 }}`: {"Error", "the code threw something that cannot be described", ""},
		`await Promise.reject(new RangeError("no"))`:        {"RangeError", "no", "    at code (code:1:36)"},
		`setTimeout(() => { throw new Error("later") }); 1`: {"Error", "later", "    at <anonymous> (code:1:35)"},
		`Promise.reject(new RangeError("no"))`:              {"RangeError", "no", "    at code (code:1:30)"},
		`(async () => { throw new Error("in") })()`:         {"Error", "in", "    at <anonymous> (code:1:31)\n    at code (code:1:40)"},
		`new Promise(() => {})`:                             {"Error", "the code waits for a promise that nothing settles", ""},
		`class P extends Promise { then() { throw 1 } }; P.resolve(2); Promise.resolve = null; Promise.reject(null)`: {"Error", "the code threw null", ""},
		`await new Promise(() => {})`:                                {"Error", "the code waits for a promise that nothing settles", ""},
		`const a = []; a.push(a); a`:                                 {"TypeError", "the result cannot be written as JSON: circular reference", ""},
		`({toJSON() { throw new Error("x") }})`:                      {"Error", "the result cannot be written as JSON: x", "    at toJSON (code:1:29)"},
		`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)`: {"TypeError", "cannot block in this thread", "    at wait (native)\n    at code (code:1:13)"},
	} {
		res := do(t, s, code)
		if res.Error == nil || *res.Error != want || res.Result != nil {
			t.Errorf("%s\n%+v\nwant %+v", code, res.Error, want)
		}
	}
}

func TestConsole(t *testing.T) {
	res := do(t, open(t, Options{}), `console.log("a", 1, null, undefined, 2n, Symbol("s"), {b: [1n]}, () => 1);
		console.info(); console.warn(NaN); console.error(new TypeError("bad").message); console.debug([1,,2]);
		const o = {}; o.o = o; console.log(o); console.log("x".repeat(10))`)
	want := []Line{
		{"log", `a 1 null undefined 2n Symbol(s) {"b":["1"]} [function ]`},
		{"info", ""},
		{"warn", "NaN"},
		{"error", "bad"},
		{"debug", "[1,null,2]"},
		{"log", "[object that JSON cannot hold: circular reference]"},
		{"log", "xxxxxxxxxx"},
	}
	if len(res.Console) != len(want) || res.Error != nil {
		t.Fatalf("%+v", res)
	}
	for i := range want {
		if res.Console[i] != want[i] {
			t.Errorf("%+v, want %+v", res.Console[i], want[i])
		}
	}
}

func TestCancelKillsAtOnce(t *testing.T) {
	s := open(t, Options{Parallel: 1})
	do(t, s, "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(50*time.Millisecond, cancel).Stop()
	start := time.Now()
	_, err := s.Run(ctx, `for (;;);`, time.Minute)
	if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("ended after %v", d)
	}
	// A deadline of the request itself is a timeout as well, and a call that waits for a worker ends too.
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err = s.Run(short, `for (;;);`, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	_, err = s.Run(short, `1`, time.Minute)
	if f, ok := jsonrpc.AsRequestError(err); !ok || f.Kind != jsonrpc.KindTimeout || f.Data["phase"] != "queued" {
		t.Errorf("%+v", err)
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	s := New(Options{})
	do(t, s, "1")
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(context.Background(), `for (;;);`, time.Minute)
		done <- err
	}()
	for len(s.slots) == 0 { // until the call has a slot
		time.Sleep(time.Millisecond)
	}
	_ = s.Close()
	if f, ok := jsonrpc.AsRequestError(<-done); !ok || f.Kind != jsonrpc.KindToolExecution {
		t.Errorf("%+v", f)
	}
	if _, err := s.Run(context.Background(), "1", time.Second); err == nil {
		t.Error("a closed sandbox ran something")
	}
	_ = s.Close()
}

// Sixteen callers at a time share a few workers, and none is started only to be ended after its call.
func TestManyCallersShareFewWorkers(t *testing.T) {
	var waits atomic.Int32
	s := open(t, Options{Parallel: 16, Wait: func(_ context.Context, f func() error) error { waits.Add(1); return f() }})
	var starts atomic.Int32
	s.program = func() (string, error) { starts.Add(1); return os.Executable() }
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 5 {
				if res, err := s.Run(t.Context(), "1 + 1", time.Minute); err != nil || string(res.Result) != "2" {
					t.Errorf("%+v %v", res, err)
				}
			}
		})
	}
	callers.Wait()
	if most := int32(min(16, 2*runtime.GOMAXPROCS(0)) + 1); starts.Load() > most { // one more may have been started as a spare
		t.Errorf("%d workers were started for 80 calls, want at most %d", starts.Load(), most)
	}
	if cap(s.slots) < 16 && waits.Load() == 0 {
		t.Error("nobody was told that calls wait")
	}
	if one := open(t, Options{Parallel: 1}); one.maxIdle != 2 || cap(one.slots) != 1 {
		t.Errorf("one call at a time: %d workers kept, %d run", one.maxIdle, cap(one.slots))
	}
}

// A call that got its worker, but may not go on any more, gives the worker to the next one.
func TestAWaitThatFailsGivesItsPlaceBack(t *testing.T) {
	late := errors.New("too late")
	var s *Sandbox
	s = open(t, Options{Parallel: 1, Wait: func(_ context.Context, f func() error) error {
		<-s.slots
		return errors.Join(f(), late)
	}})
	s.slots <- struct{}{}
	if _, err := s.Run(t.Context(), "1", time.Minute); !errors.Is(err, late) {
		t.Fatal(err)
	}
	assert.Equalf(t, len(s.slots), 0, "the place is lost")
}
