package views_test

import (
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/tui"
)

const (
	perKey  = 2 * time.Millisecond
	perTool = 10 * time.Millisecond
)

// bestPress is the slowest of the keys in the best of five rounds.
func bestPress(r *rig, keys ...string) time.Duration {
	return budget.Best(func() time.Duration {
		took := r.press(keys...)
		r.rest()
		return took
	})
}

// keyScreens are all screens, with keys that change what each of them shows.
var keyScreens = []struct {
	view string
	arg  any
	keys []string
}{
	{"servers", nil, []string{"j", "k", "tab", "j", "pgdown", "tab"}},
	{"tools", nil, []string{"j", "G", "k", "g", "tab", "j", "pgdown", "tab"}},
	{"resources", nil, []string{"j", "k", "tab", "j", "pgdown", "tab"}},
	{"prompts", nil, []string{"j", "k", "tab", "j", "pgdown", "tab"}},
	{"templates", nil, []string{"j", "k", "tab", "j", "pgdown", "tab"}},
	{"traffic", nil, []string{"j", "G", "k", "pgup", "g", "tab", "j", "pgdown", "tab"}},
	{"logs", nil, []string{"j", "G", "k", "pgup", "g"}},
	{"call", "echo", []string{"a", "b", "backspace", "tab", "j", "k", "tab"}},
	{"prompt", "greet", []string{"a", "b", "backspace", "tab", "j", "k", "tab"}},
	{"template", "fake://item/{id}{?q}", []string{"a", "b", "backspace", "tab", "j", "k", "tab"}},
}

// Every screen, with what a server of many tools and a talkative one put on it.
func TestBudgetKeyOnEveryScreen(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.Good), "tools")
	r.until("rpc_error")
	fill(r, "notify")
	r.press("ctrl+g")
	r.until("✓ ")
	r.rest()
	for _, s := range keyScreens {
		r.send(tui.Navigate{View: s.view, Arg: s.arg})
		r.rest()
		budget.Ceiling(t, "key press to View at 200x60, "+s.view, bestPress(r, s.keys...), perKey)
	}
}

// fill opens a tool's form and puts arguments into it where they are given;
// ctrl+g sends it, as often as it is pressed.
func fill(r *rig, tool string, args ...string) {
	r.send(tui.Navigate{View: "call", Arg: tool})
	r.until("press ctrl+g")
	for _, a := range args {
		r.press("ctrl+r")
		for range 64 { // what the form holds by itself
			r.press("delete")
		}
		r.send(pasted(a))
	}
}

func TestBudgetLongResult(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.Good), "tools")
	r.until("rpc_error")
	fill(r, "big", `{"bytes":10000000}`)
	opened := budget.Best(func() time.Duration {
		r.press("ctrl+g")
		_, _ = r.until("reading the result")
		took, _ := r.until("line 12 the quick")
		return took
	})
	budget.Ceiling(t, "100,000-line result opened", opened, 150*time.Millisecond)
	budget.Ceiling(t, "100,000-line result scrolled one page", bestPress(r, "pgdown", "pgdown", "pgup", "G", "pgup", "g"), perKey)
}

// 50 MB are opened, scrolled, searched and left without holding up the loop.
func TestBudgetHugeResult(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.Big), "tools")
	r.until("rpc_error")
	slowest := time.Hour
	fill(r, "big")
	budget.Best(func() time.Duration {
		r.press("ctrl+g")
		_, _ = r.until("Press x to cancel")
		took, s := r.until("line 12 the quick")
		slowest = min(slowest, s)
		return took
	})
	budget.Ceiling(t, "50 MB result drawn, slowest message", slowest, perTool)
	budget.Ceiling(t, "50 MB result scrolled one page", bestPress(r, "pgdown", "pgdown", "pgup", "G", "pgup", "g"), perKey)
	r.press("/")
	budget.Ceiling(t, "50 MB result searched, key", budget.Best(func() time.Duration {
		took := r.typed("line 499999 ")
		r.until("line 499999 the")
		r.press("ctrl+u")
		r.rest()
		return took
	}), perKey)
}

func TestBudgetManyToolsKeys(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.ManyTools), "tools")
	r.until("tool_0003")
	r.rest()
	budget.Ceiling(t, "5,000 tools, key", bestPress(r, "j", "j", "pgdown", "G", "k", "g"), perKey)
	r.press("/")
	budget.Ceiling(t, "5,000 tools, filter keystroke on the screen", budget.Best(func() time.Duration {
		r.typed("tool_00")
		r.until("100 of 5000")
		r.rest()
		start := time.Now()
		r.press("1")
		r.until("10 of 5000")
		took := time.Since(start)
		r.press("ctrl+u")
		r.rest()
		return took
	}), perTool)
}

// Six characters that come in one go are applied before anybody sees that there were six.
func TestBudgetManyToolsFilter(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.ManyTools), "tools")
	r.until("tool_0003")
	r.rest()
	r.press("/")
	budget.Ceiling(t, "5,000 tools, filter of 6 characters on the screen", budget.Best(func() time.Duration {
		start := time.Now()
		r.typed("ol_004")
		r.until("10 of 5000")
		took := time.Since(start)
		r.press("ctrl+u")
		r.rest()
		return took
	}), 12*time.Millisecond)
}

func TestBudgetDeepSchema(t *testing.T) {
	budget.Skip(t)
	r := newRig(t, faketest.Stdio(t, behave.DeepSchema), "tools")
	r.until("deep")
	r.rest()
	budget.Ceiling(t, "moving onto a tool with a 100-level schema, drawn", budget.Best(func() time.Duration {
		r.press("g")
		r.rest()
		start := time.Now()
		r.press("j")
		r.until("one level down")
		return time.Since(start)
	}), perTool)
	// Drafts are kept: only a rig that never opened it opens a form anew.
	budget.Ceiling(t, "opening the form of a tool with a 100-level schema", budget.Best(func() time.Duration {
		r := newRig(t, faketest.Stdio(t, behave.DeepSchema), "tools")
		r.until("deep")
		r.press("j")
		r.rest()
		start := time.Now()
		r.press("enter")
		r.until("press ctrl+g")
		return time.Since(start)
	}), perTool)
}
