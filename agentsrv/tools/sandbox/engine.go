package sandbox

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/quickjs"

	"github.com/mcphud/mcphud/session/base/text"
)

//go:embed prelude.js
var prelude string

// evalAsync makes the engine allow await at the top level and return a promise of an object with the completion value.
const evalAsync = 1 << 7

// maxSleep is how long a worker waits for a timer at once; the agent ends calls long before.
const maxSleep = time.Hour

// run is one evaluation.
type run struct {
	vm   *quickjs.VM
	q    request
	out  outcome
	size int // bytes of JSON in out so far
}

// evaluate runs code in an engine of its own.
func evaluate(q request) outcome {
	start := time.Now()
	r := &run{q: q, out: outcome{Console: []Line{}}}
	if err := r.all(); err != nil && r.out.Error == nil {
		r.out.Type, r.out.Result = "", nil
		r.out.Error = r.explain(err)
	}
	if r.vm != nil {
		_ = r.vm.Close()
	}
	r.out.Micros = time.Since(start).Microseconds()
	return r.out
}

// all is the life of one engine. Errors of the code itself are not its own: they are in out.
func (r *run) all() (err error) {
	if r.vm, err = quickjs.NewVM(); err != nil {
		return err
	}
	vm := r.vm
	vm.SetMemoryLimit(uintptr(r.q.Memory))
	vm.SetCanBlock(false)
	if err := vm.RegisterHostFunc("$host", r.host); err != nil {
		return err
	}
	made, err := vm.EvalValue(prelude, quickjs.EvalGlobal)
	if err != nil {
		return err
	}
	defer made.Free()
	api, err := made.CallValue(quickjs.UndefinedValue, r.q.Output)
	if err != nil {
		return err
	}
	defer api.Free()
	call := func(name string, args ...any) (any, error) {
		atom, err := vm.NewAtom(name)
		if err != nil {
			return nil, err
		}
		f, err := api.GetPropertyValue(atom)
		if err != nil {
			return nil, err
		}
		defer f.Free()
		return f.Call(quickjs.UndefinedValue, args...)
	}
	promise, err := vm.EvalValue(r.q.Code, quickjs.EvalGlobal|evalAsync)
	if err != nil {
		return err
	}
	defer promise.Free()
	if _, err := call("watch", promise); err != nil {
		return err
	}
	for {
		// A job's own exception is its promise's rejection; what comes back here is only that the jobs ended or that a
		// million of them ran.
		if n, _ := vm.ExecutePendingJobs(); n > 0 {
			continue
		}
		wait, err := call("next")
		if err != nil {
			return err
		}
		ms, ok := milliseconds(wait)
		if !ok {
			break
		}
		time.Sleep(ms)
		if _, err := call("fire"); err != nil {
			return err
		}
	}
	_, err = call("finish")
	return err
}

// milliseconds is a number that the engine returned as a time to wait, false if it is negative.
func milliseconds(v any) (time.Duration, bool) {
	var ms float64
	switch v := v.(type) {
	case int:
		ms = float64(v)
	case int32:
		ms = float64(v)
	case int64:
		ms = float64(v)
	case float64:
		ms = v
	}
	return time.Duration(min(ms*float64(time.Millisecond), float64(maxSleep))), ms >= 0
}

// host is the one way out of the engine: what the prelude reports.
func (r *run) host(args []any) (any, error) {
	text := func(i int) string {
		if i < len(args) {
			s, _ := args[i].(string)
			return s
		}
		return ""
	}
	switch text(0) {
	case "console":
		return r.line(Line{Level: text(1), Text: text(2)}), nil
	case "result":
		r.result(text(1), text(2))
	case "error":
		r.out.Error = &Thrown{Name: text(1), Message: text(2), Stack: stack(text(3))}
		r.out.Spent = outOfMemory(text(1), text(2))
	case "pending":
		r.pending(text(1) != "")
	default:
		return nil, fmt.Errorf("unknown report %q", text(0))
	}
	return nil, nil
}

// pending is the end of code that nothing will settle any more. Code that awaits nothing, and all the same did not come to its end,
// ran out of memory: there was not even enough left to say so.
func (r *run) pending(ran bool) {
	if !ran && !strings.Contains(r.q.Code, "await") {
		r.out.Spent, r.out.Error = true, &Thrown{Name: "InternalError", Message: "out of memory"}
		return
	}
	r.out.Error = &Thrown{Name: "Error", Message: "the code waits for a promise that nothing settles"}
}

// line keeps one line of console output and says whether that was the last one that fits.
func (r *run) line(l Line) (full bool) {
	const around = len(`{"level":"","text":""},`)
	raw, err := json.Marshal(l.Text)
	if err != nil {
		return false
	}
	left := r.q.Output - r.size - around - len(l.Level)
	if len(raw) > left {
		r.out.Truncated = true
		r.size = r.q.Output
		if l.Text = text.Cut(l.Text, left/6); l.Text != "" { // 6 bytes is the longest that JSON makes of one
			r.out.Console = append(r.out.Console, l)
		}
		return true
	}
	r.size += len(raw) + around + len(l.Level)
	r.out.Console = append(r.out.Console, l)
	return false
}

// result keeps the JSON of the completion value. One that is too long becomes the string of its beginning.
func (r *run) result(kind, result string) {
	r.out.Type = kind
	if result == "" {
		return
	}
	left := max(r.q.Output-r.size, 1<<10)
	if len(result) > left {
		r.out.Truncated = true
		raw, err := json.Marshal(text.Cut(result, left/2))
		if err == nil {
			r.out.Result = raw
		}
		return
	}
	clean, err := tidy(result)
	if err != nil {
		r.out.Error = &Thrown{Name: "RangeError", Message: err.Error()}
		return
	}
	r.out.Result = clean
}

// explain words an error that came from the engine rather than from the prelude: code that does not parse, and an
// engine so full that the prelude could not run.
func (r *run) explain(err error) *Thrown {
	var e *quickjs.Error
	if !errors.As(err, &e) {
		return &Thrown{Name: "InternalError", Message: err.Error()}
	}
	if e.Name == "" || outOfMemory(e.Name, e.Message) {
		r.out.Spent = true
		return &Thrown{Name: "InternalError", Message: "out of memory"}
	}
	at := e.Stack
	if e.LineNumber > 0 {
		at = fmt.Sprintf("    at <eval>:%d:%d\n", e.LineNumber, e.ColumnNumber)
	}
	return &Thrown{Name: e.Name, Message: e.Message, Stack: stack(at)}
}

func outOfMemory(name, message string) bool {
	return name == "InternalError" && message == "out of memory" || strings.HasSuffix(message, ": out of memory")
}
