package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A tool that is marked as destructive is called when somebody said yes to its arguments; who said so for good is not asked again.
func TestB6_E2EDestructiveToolsAsk(t *testing.T) {
	p := open(t, serve(t, map[string]string{"demo": agent(t, agentsrv.Options{Root: t.TempDir()})})+"/")
	p.pick("reset_counter")
	if got := p.text("#marks"); got != "destructive" {
		t.Errorf("marked %q", got)
	}
	asks := func() {
		t.Helper()
		p.click("#run")
		p.until(`document.getElementById('confirm').open`)
	}
	asks()
	assert.Contains(t, p.text("#danger"), "demo marks reset_counter as destructive")
	if got := p.text("#sent"); !strings.HasPrefix(got, "{") {
		t.Errorf("shows %q", got)
	}
	p.shots("ask")
	p.click(`#confirm button[value="no"]`)
	var children int
	if p.eval(`document.getElementById('result').childElementCount`, &children); children != 0 {
		t.Error("a call that was refused was made")
	}
	asks()
	// The next question may come before the page hears of the last answer.
	p.eval(`document.querySelector('#confirm button[value="no"]').click(), document.getElementById('run').click()`, nil)
	p.until(`document.getElementById('confirm').open`)
	p.click(`#confirm button[value="once"]`)
	assert.Contains(t, p.result(), "Done after")
	asks()
	p.click(`#confirm button[value="always"]`)
	assert.Contains(t, p.result(), "Done after")
	assert.Contains(t, p.call(), "Done after")
	p.pick("echo")
	p.fill("message", "hi")
	assert.Contains(t, p.call(), "hi")
}

// Prompts and resources are listed, got and read; all agents are one in a list of their own.
func TestB6_E2EPromptsResourcesAndAllAgents(t *testing.T) {
	p := open(t, serve(t, map[string]string{
		"demo": agent(t, agentsrv.Options{Root: t.TempDir()}), "everything": agent(t, agentsrv.Options{Profile: agentsrv.Everything}),
	})+"/")
	p.choose("everything")
	p.pick("test_simple_text")
	kind := func(which string) {
		t.Helper()
		p.click(`#kinds button[value="` + which + `"]`)
		p.until(`document.getElementById('filter').placeholder === 'Filter ` + which + `'`)
	}
	kind("prompts")
	p.pick("test_prompt_with_arguments")
	p.fill("arg1", "first")
	p.fill("arg2", "second")
	assert.Contains(t, p.call(), "user: text", "first")
	kind("resources")
	p.until(`document.querySelectorAll('#tools button').length > 1`)
	p.eval(`[...document.querySelectorAll('#tools button')].find((b) => b.item.uri === 'test://static-text').click()`, nil)
	assert.Contains(t, p.call(), "resource test://static-text")
	p.shots("resource")
	kind("tools")
	p.choose("*")
	p.pick("mcp__demo__add")
	p.fill("a", "40")
	p.fill("b", "2")
	assert.Contains(t, p.call(), `"sum": 42`)
	p.shots("all")
	// No row of the list is cut: its height is a whole number of them.
	var rows float64
	if p.eval(`document.getElementById('tools').getBoundingClientRect().height / document.querySelector('#tools li').getBoundingClientRect().height`, &rows); rows < 2 || rows-float64(int(rows+.05)) > .05 {
		t.Errorf("%v rows are visible", rows)
	}
	if said := p.said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// shots keeps pictures of the page, wide and narrow, where the variable says.
func (p *page) shots(name string) {
	p.t.Helper()
	dir := os.Getenv("MCPHUD_SHOTS")
	if dir == "" {
		return
	}
	for size, width := range map[string]int64{"wide": 1280, "narrow": 400} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.shoot(filepath.Join(dir, name+"-"+size+".png"))
	}
	p.do(chromedp.EmulateViewport(1280, 900))
}
