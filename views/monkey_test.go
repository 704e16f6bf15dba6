package views_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// shifty is a server whose lists have another length at each call, which says
// list_changed all the time and goes away now and then.
func shifty(seed uint64) tuitest.Serve {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ctx, stop := context.WithTimeout(ctx, time.Duration(1+rnd.IntN(20))*time.Second)
		defer stop()
		pr, pw := io.Pipe()
		go func() {
			_, _ = io.Copy(pw, in)
			_ = pw.Close()
		}()
		context.AfterFunc(ctx, func() { _ = pw.CloseWithError(io.ErrUnexpectedEOF) })
		return evilLists(rnd)(ctx, pr, out)
	}
}

func evilLists(rnd *rand.Rand) tuitest.Serve {
	return func(_ context.Context, in io.Reader, out io.Writer) error {
		return serveLines(in, out, func(method string) (any, bool) {
			list := func(key string, item func(i int) m) (any, bool) {
				items := []any{}
				for i := range []int{0, 1, 3, 2500}[rnd.IntN(4)] {
					items = append(items, item(i))
				}
				return m{key: items}, true
			}
			switch method {
			case "initialize":
				return m{
					"protocolVersion": "2025-11-25", "serverInfo": m{"name": "shifty"},
					"capabilities": m{"tools": m{"listChanged": true}, "resources": m{}, "prompts": m{}, "logging": m{}, "completions": m{}},
				}, true
			case "tools/list":
				return list("tools", func(i int) m {
					return m{"name": fmt.Sprint("tool", i), "inputSchema": m{"type": []any{"object", "string", 7}[i%3], "properties": m{"a": m{"type": "array", "items": m{"$ref": "#"}}, "b": m{"$ref": "#/properties/b"}}}}
				})
			case "resources/list":
				return list("resources", func(i int) m { return m{"uri": fmt.Sprint("x:", i), "name": "r"} })
			case "resources/templates/list":
				return list("resourceTemplates", func(i int) m { return m{"uriTemplate": fmt.Sprintf("x:%d{a,b*}", i), "name": "r"} })
			case "prompts/list":
				return list("prompts", func(i int) m { return m{"name": fmt.Sprint("p", i), "arguments": []any{m{"name": "a"}}} })
			case "tools/call":
				return []any{m{"content": []any{}}, m{"content": 7}, m{}, []any{}, "x", nil, m{"structuredContent": strings.Repeat("[", 100)}}[rnd.IntN(7)], true
			}
			return m{}, rnd.IntN(4) > 0
		})
	}
}

// TestMonkey presses keys at random while lists change, connections are lost,
// the terminal changes its size and other servers are chosen. A panic ends the
// program, which fails the test.
func TestMonkey(t *testing.T) {
	t.Chdir(t.TempDir()) // some keys save to a file of any name
	keys := []string{
		"up", "down", "left", "right", "enter", "enter", "enter", "tab", "tab", "shift+tab", "esc", "esc", "space", "pgup", "pgdown", "home", "end",
		"1", "2", "3", "4", "5", "6", "7", "g", "G", "j", "k", "/", "n", "N", ":", "?", "ctrl+p", "y", "p", "c", "j", "r", "s", "m", "w", "o", "[", "]", "x",
		"z", "<", ">", "\\", ":theme", "M", "u", "t", "f", "L", "d", "ctrl+g", "ctrl+r", "ctrl+n", "ctrl+x", "ctrl+o", "ctrl+z", "ctrl+y", "f2", "f8", "alt+up", "alt+down",
		"a", "b", "1", "backspace", "delete", "ctrl+u", "ctrl+d",
	}
	sizes := [][2]int{{1, 1}, {2, 2}, {3, 100}, {39, 10}, {40, 10}, {40, 9}, {41, 11}, {80, 24}, {79, 24}, {119, 30}, {120, 40}, {300, 100}, {300, 10}}
	all := hostile.Strings()
	seeds := uint64(8)
	if budget.Race() || !budget.All() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				app := tuitest.Start(t,
					tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("one", shifty(seed)), tuitest.Peer("two", shifty(seed+100)),
					tuitest.Target(config.Server{Name: "gone", Transport: config.Stdio, Command: "/nonexistent/server"}),
					tuitest.Env("EDITOR", "false"), tuitest.Env("PAGER", "false"),
				)
				for range 400 {
					before, at := app.Screen(), app.State()
					// Help and palette could quit, or start a pager.
					picking := len(at.Overlays) > 0 && !strings.HasSuffix(at.Overlays[len(at.Overlays)-1], "?") || strings.HasPrefix(at.Prompt, ":")
					var did string
					switch n := rnd.IntN(40); {
					case n == 0:
						size := sizes[rnd.IntN(len(sizes))]
						did = fmt.Sprint("resize ", size)
						app.Resize(size[0], size[1])
					case n == 1:
						did = "paste"
						v := all[rnd.IntN(len(all))].Value
						app.Paste(strings.Map(typed, strings.ToValidUTF8(v[:min(len(v), 2000)], "?")))
					case n == 2:
						did = "other server"
						app.Send(tui.Navigate{View: "tools", Server: []string{"one", "two", "gone"}[rnd.IntN(3)]})
					case n == 3 && !picking:
						did = "click"
						app.Click(rnd.IntN(120), rnd.IntN(40)).Wheel(rnd.IntN(120), rnd.IntN(40), rnd.IntN(7)-3)
					case n == 4:
						did = "wait"
						app.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
					default:
						did = keys[rnd.IntN(len(keys))]
						if picking && (did == "enter" || rnd.IntN(4) == 0) {
							did = "esc"
						}
						app.Press(did)
					}
					if app.State().View == "" {
						t.Fatalf("%s ended the program on\n%s", did, before)
					}
				}
				app.Resize(120, 40)
				for range 60 {
					if len(app.State().Failures)+len(app.State().Overlays) == 0 {
						break
					}
					app.Press("esc")
				}
			})
		})
	}
}

// typed leaves out what terminals take out of pastes.
func typed(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}
