package views_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi/kitty"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// The terminal of the tests does not say how large a cell is, so that 10 × 20 pixels are taken.
const cellW, cellH = 10, 20

// painted is a picture whose every pixel says where it is.
func painted(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x / cellW * 40), uint8(y / cellH * 12), 200, 255})
		}
	}
	return img
}

// pictured opens a result with a picture, as this setting draws it.
func pictured(t *testing.T, img image.Image, setting string, env ...tuitest.Option) *tuitest.App {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	result := func() any {
		return m{"content": []any{m{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(b.Bytes())}}}
	}
	opts := append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("one", answering(result)), tuitest.At("tools", nil), tuitest.Size(80, 24),
		tuitest.Config(func(c *tui.Config) { c.Settings.Images = setting }),
	}, env...)
	app := tuitest.Start(t, opts...)
	app.View("tools").Pane("list").Has("give")
	app.Press("enter").View("call")
	app.Press("ctrl+g").Pane("result").Has("Result ✓ ", fmt.Sprintf("%d × %d pixels", img.Bounds().Dx(), img.Bounds().Dy()))
	return app
}

var kittySequence = regexp.MustCompile(`\x1b_G([^;\x1b]*)(?:;([A-Za-z0-9+/=]*))?\x1b\\`)

// kittyImages are the pictures that kitty has after this output, by id, as decoded from what was sent.
func kittyImages(t *testing.T, out string) map[int]image.Image {
	t.Helper()
	have, data, at := map[int]image.Image{}, "", 0
	for _, hit := range kittySequence.FindAllStringSubmatch(out, -1) {
		keys := map[string]string{}
		for kv := range strings.SplitSeq(hit[1], ",") {
			k, v, _ := strings.Cut(kv, "=")
			keys[k] = v
		}
		if len(hit[2]) > 4096 {
			t.Errorf("a piece has %d bytes", len(hit[2]))
		}
		if keys["a"] == "d" {
			n, _ := strconv.Atoi(keys["i"])
			delete(have, n)
			continue
		}
		if keys["a"] == "T" {
			if keys["q"] != "2" || keys["U"] != "1" || keys["f"] != "100" {
				t.Errorf("a picture is sent as %s", hit[1])
			}
			at, _ = strconv.Atoi(keys["i"])
			data = ""
		}
		if data += hit[2]; keys["m"] == "1" {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		require.NoError(t, err)
		img, err := png.Decode(bytes.NewReader(raw))
		require.NoError(t, err)
		have[at] = img
	}
	return have
}

// cellsOf are the cells of a picture on the screen: column and row of the screen, column and row of the picture.
func cellsOf(screen string) (all [][4]int) {
	index := map[rune]int{}
	for i := range 297 {
		index[kitty.Diacritic(i)] = i
	}
	for y, line := range strings.Split(screen, "\n") {
		x := 0
		r := []rune(line)
		for i := 0; i < len(r); i++ {
			if r[i] == kitty.Placeholder && i+2 < len(r) {
				all = append(all, [4]int{x, y, index[r[i+2]], index[r[i+1]]})
				i += 2
			}
			x++
		}
	}
	return all
}

// In kitty a picture is cells that name its pixels, which scroll and are covered as text is; what is sent is made anew.
func TestImagesByKitty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		img := painted(6*cellW, 30*cellH-3)
		app := pictured(t, img, "", tuitest.Env("TERM", "xterm-kitty"))
		check := func(when string, first int) {
			t.Helper()
			have := kittyImages(t, string(app.Output()))
			if len(have) != 1 {
				t.Fatalf("%s: kitty has %d pictures", when, len(have))
			}
			cells := cellsOf(app.Screen())
			if len(cells) == 0 || cells[0][3] != first || len(cells)%6 != 0 {
				t.Fatalf("%s: %d cells %v\n%s", when, len(cells), cells[:min(len(cells), 3)], app.Screen())
			}
			for _, c := range cells {
				for _, sent := range have {
					at := image.Pt(c[2]*cellW+3, c[3]*cellH+3)
					r, g, b, _ := sent.At(at.X, at.Y).RGBA()
					if want := img.NRGBAAt(at.X, at.Y); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(b>>8) != want.B {
						t.Fatalf("%s: the cell %v has %d %d %d, want %v", when, c, r>>8, g>>8, b>>8, want)
					}
				}
			}
		}
		check("at first", 0)
		app.Press("j", "j", "j", "j")
		top := cellsOf(app.Screen())[0][3]
		if top == 0 {
			t.Errorf("it does not scroll")
		}
		check("scrolled", top)
		n := len(cellsOf(app.Screen()))
		app.Press("?")
		if len(cellsOf(app.Screen())) >= n {
			t.Error("help does not cover the picture")
		}
		app.Press("esc")
		check("uncovered", top)
		if why := outside(app.Output(), 0); why != "" {
			t.Errorf("the terminal was sent %s", why)
		}
		app.Send(tui.Reload{Settings: &tui.Settings{Images: "none"}})
		if len(cellsOf(app.Screen())) != 0 || len(kittyImages(t, string(app.Output()))) != 0 {
			t.Errorf("without pictures the terminal keeps some\n%s", app.Screen())
		}
	})
}

var drawnGroup = regexp.MustCompile(`(?s)\x1b7((?:\x1b\[\d+;\d+H(?:\x1b\]1337;[^\x07]*\x07|\x1bP0;1q[^\x1b]*\x1b\\))+)\x1b8`)

var drawnSpot = regexp.MustCompile(`(?s)\x1b\[(\d+);(\d+)H(?:\x1b\]1337;File=inline=1;size=\d+;width=(\d+);height=(\d+);preserveAspectRatio=0;doNotMoveCursor=1:([^\x07]*)\x07|\x1bP0;1q([^\x1b]*)\x1b\\)`)

// overlaid is what is drawn over the screen: the pixels of the last frame's pictures.
func overlaid(t *testing.T, out string) *image.NRGBA {
	t.Helper()
	screen := image.NewNRGBA(image.Rect(0, 0, 80*cellW, 24*cellH))
	groups := drawnGroup.FindAllStringSubmatchIndex(out, -1)
	if len(groups) == 0 {
		return screen
	}
	last := groups[len(groups)-1]
	assert.NotContains(t, out[last[1]:], "38;2;1;")
	for _, s := range drawnSpot.FindAllStringSubmatch(out[last[2]:last[3]], -1) {
		y, _ := strconv.Atoi(s[1])
		x, _ := strconv.Atoi(s[2])
		var img image.Image
		if s[6] != "" {
			img = unsixel(t, s[6])
		} else {
			raw, err := base64.StdEncoding.DecodeString(s[5])
			require.NoError(t, err)
			if img, err = png.Decode(bytes.NewReader(raw)); err != nil {
				t.Fatal(err)
			}
			if s[3] != strconv.Itoa(img.Bounds().Dx()/cellW) || s[4] != strconv.Itoa(img.Bounds().Dy()/cellH) {
				t.Errorf("%v pixels in %s × %s cells", img.Bounds(), s[3], s[4])
			}
		}
		for py := range img.Bounds().Dy() {
			for px := range img.Bounds().Dx() {
				if c := color.NRGBAModel.Convert(img.At(px, py)).(color.NRGBA); c.A > 0 {
					screen.SetNRGBA((x-1)*cellW+px, (y-1)*cellH+py, c)
				}
			}
		}
	}
	return screen
}

// unsixel draws sixel data.
func unsixel(t *testing.T, s string) image.Image {
	t.Helper()
	head := regexp.MustCompile(`^"1;1;(\d+);(\d+)`).FindStringSubmatch(s)
	if head == nil {
		t.Fatalf("sixel begins with %.30q", s)
	}
	w, _ := strconv.Atoi(head[1])
	h, _ := strconv.Atoi(head[2])
	img, palette := image.NewNRGBA(image.Rect(0, 0, w, h)), map[int]color.NRGBA{}
	x, top, ink := 0, 0, 0
	number := func(i *int) (n int) {
		for ; *i < len(s) && s[*i] >= '0' && s[*i] <= '9'; *i++ {
			n = 10*n + int(s[*i]-'0')
		}
		return n
	}
	for i := len(head[0]); i < len(s); {
		switch c := s[i]; {
		case c == '#':
			i++
			ink = number(&i)
			if i < len(s) && s[i] == ';' {
				var v [4]int
				for k := range v {
					i++
					v[k] = number(&i)
				}
				palette[ink] = color.NRGBA{uint8((v[1]*255 + 50) / 100), uint8((v[2]*255 + 50) / 100), uint8((v[3]*255 + 50) / 100), 255}
			}
		case c == '$':
			x = 0
			i++
		case c == '-':
			x, top = 0, top+6
			i++
		default:
			n := 1
			if c == '!' {
				i++
				n = number(&i)
			}
			bits := s[i] - 63
			i++
			for ; n > 0; n-- {
				for b := range 6 {
					if bits&(1<<b) != 0 {
						img.SetNRGBA(x, top+b, palette[ink])
					}
				}
				x++
			}
		}
	}
	return img
}

func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) int { return max(int(x), int(y)) - min(int(x), int(y)) }
	return a.A == b.A && d(a.R, b.R)+d(a.G, b.G)+d(a.B, b.B) <= 6
}

// By iTerm2's protocol and by sixel the visible parts of a picture are drawn where its blanked cells are, after each frame that wrote some
// of them: at first, when it scrolls, and around what covers it.
func TestImagesOverTheFrame(t *testing.T) {
	for _, protocol := range []string{"iterm2", "sixel"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				img := painted(6*cellW, 30*cellH)
				app := pictured(t, img, protocol)
				// The same cells, by the way in which kitty sees them.
				shown := func() (x, y, top int) {
					t.Helper()
					screen := overlaid(t, string(app.Output()))
					for py := range screen.Bounds().Dy() {
						for px := range screen.Bounds().Dx() {
							if c := screen.NRGBAAt(px, py); c.A > 0 {
								return px / cellW, py / cellH, int(c.G+6) / 12
							}
						}
					}
					return -1, -1, -1
				}
				pane := app.State().Panes["result"]
				x, y, top := shown()
				if x != pane.X || y <= pane.Y || top != 0 {
					t.Fatalf("it is drawn at %d, %d from row %d on; the pane is at %v\n%s", x, y, top, pane, app.Screen())
				}
				check := func(when string, x, y, top, rows int) {
					t.Helper()
					screen := overlaid(t, string(app.Output()))
					for py := range rows * cellH {
						for px := range 6 * cellW {
							if got, want := screen.NRGBAAt(x*cellW+px, y*cellH+py), img.NRGBAAt(px, top*cellH+py); !near(got, want) {
								t.Fatalf("%s: pixel %d, %d is %v, want %v", when, px, py, got, want)
							}
						}
					}
					if c := screen.NRGBAAt(x*cellW+3, (y+rows)*cellH+3); c.A > 0 {
						t.Errorf("%s: something is drawn below the pane", when)
					}
				}
				rows := pane.Y + pane.H - y
				check("at first", x, y, 0, rows)
				app.Press("j", "j", "j", "j")
				x, y, top = shown()
				if top == 0 {
					t.Fatal("it does not scroll")
				}
				check("scrolled", x, y, top, pane.Y+pane.H-y)
				before := len(app.Press("?").Output())
				app.Resize(82, 24).Resize(80, 24) // all is drawn anew, where the text alone would have covered it
				over := app.State().Panes["overlay"]
				screen := overlaid(t, string(app.Output()[before:]))
				for py := over.Y * cellH; py < (over.Y+over.H)*cellH; py++ {
					for px := over.X * cellW; px < (over.X+over.W)*cellW; px++ {
						if screen.NRGBAAt(px, py).A > 0 {
							t.Fatalf("the help is drawn over at %d, %d", px, py)
						}
					}
				}
				app.Press("esc")
				check("uncovered", x, y, top, pane.Y+pane.H-y)
				if cells := cellsOf(app.Screen()); len(cells) > 0 {
					t.Errorf("%d placeholders are on the screen", len(cells))
				}
				if why := outside(app.Output(), 0); why != "" {
					t.Errorf("the terminal was sent %s", why)
				}
			})
		})
	}
}

// auto draws half blocks where it does not know the terminal, and in tmux; none draws nothing.
func TestImagesElsewhere(t *testing.T) {
	for _, c := range []struct {
		setting string
		env     []tuitest.Option
		blocks  bool
	}{
		{"", nil, true},
		{"auto", []tuitest.Option{tuitest.Env("TERM_PROGRAM", "WezTerm")}, true},
		{"auto", []tuitest.Option{tuitest.Env("TERM", "xterm-kitty"), tuitest.Env("TMUX", "/tmp/x,1,0")}, true},
		{"blocks", []tuitest.Option{tuitest.Env("TERM", "xterm-kitty")}, true},
		{"iterm2", []tuitest.Option{tuitest.Env("TMUX", "/tmp/x,1,0")}, true},
		{"none", []tuitest.Option{tuitest.Env("TERM", "xterm-kitty")}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			app := pictured(t, painted(4*cellW, 2*cellH), c.setting, c.env...)
			if got := strings.Contains(app.Screen(), "▀▀"); got != c.blocks || len(cellsOf(app.Screen())) > 0 || strings.Contains(string(app.Output()), "\x1b_G") {
				t.Errorf("%q: half blocks are %v\n%s", c.setting, got, app.Screen())
			}
		})
	}
}

// Wrapping follows the settings, also in a text that is open, until a key says otherwise.
func TestWrappingFollowsTheSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := called(t, 80, 24, func() any { return m{"content": []any{text(strings.Repeat("x ", 60) + "END")}} })
		app.Pane("result").Has("END")
		app.Send(tui.Reload{Settings: &tui.Settings{Sideways: true}})
		app.Pane("result").HasNot("END")
		app.Send(tui.Reload{Settings: &tui.Settings{}})
		app.Pane("result").Has("END")
	})
}
