package themes

import (
	"math"
	"testing"
)

func TestContrast(t *testing.T) {
	for _, p := range All() {
		for _, w := range p.Weak() {
			t.Errorf("%s: %s", p.Name, w)
		}
	}
	p := dark()
	p.Colors[Muted] = rgb(0x2a2c31, 7)
	if weak := p.Weak(); len(weak) != 3 || weak[0].Token != Muted || weak[0].Behind != "the background" {
		t.Errorf("%v", weak)
	}
}

// simulate is what someone with a complete deficiency sees, in linear light
// (Machado, Oliveira, Fernandes 2009, severity 1.0).
func simulate(c Color, d Deficiency) [3]float64 {
	m := map[Deficiency][3][3]float64{
		"":     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		Protan: {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		Deutan: {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		Tritan: {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}[d]
	in, out := linear(c), [3]float64{}
	for i, row := range m {
		out[i] = min(1, max(0, row[0]*in[0]+row[1]*in[1]+row[2]*in[2]))
	}
	return out
}

// distance is the CIE 1976 colour difference; 2.3 is just noticeable.
func distance(a, b [3]float64) float64 {
	lab := func(l [3]float64) [3]float64 {
		f := func(t float64) float64 {
			if t > 0.008856 {
				return math.Cbrt(t)
			}
			return 7.787*t + 16.0/116
		}
		x := f((0.4124564*l[0] + 0.3575761*l[1] + 0.1804375*l[2]) / 0.95047)
		y := f(0.2126729*l[0] + 0.7151522*l[1] + 0.0721750*l[2])
		z := f((0.0193339*l[0] + 0.1191920*l[1] + 0.9503041*l[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

func TestVerdictsCanBeToldApart(t *testing.T) {
	const least = 20
	for _, p := range All() {
		if p.Background.Only16 {
			continue
		}
		for _, d := range append([]Deficiency{""}, p.Deficiencies...) {
			for _, pair := range [][2]Token{{OK, Warn}, {OK, Error}, {Warn, Error}, {Login, OK}, {Login, Warn}, {Login, Error}} {
				a, b := simulate(p.Color(pair[0]), d), simulate(p.Color(pair[1]), d)
				if dist := distance(a, b); dist < least {
					t.Errorf("%s (%s): %s and %s are %.1f apart, want %d", p.Name, d, pair[0], pair[1], dist, least)
				}
			}
		}
	}
}

// The colours of servers are legible and differ from each other, also for whom the palette is made.
func TestServersCanBeToldApart(t *testing.T) {
	const least = 20
	for _, p := range All() {
		for i, a := range p.Servers {
			if p.Background.Only16 {
				continue
			}
			for _, behind := range []Color{p.Background, p.Color(Surface), p.Color(Field)} {
				if r := Contrast(a, behind); r < 4.5 {
					t.Errorf("%s: server colour %d has a contrast of %.2f to %v", p.Name, i, r, behind)
				}
			}
			for k, b := range p.Servers[:i] {
				for _, d := range append([]Deficiency{""}, p.Deficiencies...) {
					if dist := distance(simulate(a, d), simulate(b, d)); dist < least {
						t.Errorf("%s (%s): server colours %d and %d are %.1f apart, want %d", p.Name, d, i, k, dist, least)
					}
				}
			}
		}
	}
	if Hue("demo") == Hue("fault") {
		t.Error("a name does not decide the colour")
	}
}

// A test of the test: what the dark palette does to green and yellow is why
// there is another one.
func TestSimulationFindsConfusableColours(t *testing.T) {
	p := Default(true)
	if d := distance(simulate(p.Color(OK), Deutan), simulate(p.Color(Error), Deutan)); d > 20 {
		t.Errorf("the simulation tells green from red (%.1f)", d)
	}
}

func TestPalettesAreNamedAndComplete(t *testing.T) {
	for _, p := range All() {
		got, ok := Find(p.Name)
		if !ok || got.Title != p.Title || p.Title == "" {
			t.Errorf("Find(%q) = %q, %v", p.Name, got.Title, ok)
		}
		for tok := range Count {
			if c := p.Color(tok); c == (Color{}) && tok != BadgeFg && tok != MatchFg && tok != SelectionFg { // black is a fine ink there
				t.Errorf("%s has no %s", p.Name, tok)
			}
		}
	}
	if _, ok := Find("nosuch"); ok {
		t.Error("found a palette that does not exist")
	}
	if Default(true).Dark == Default(false).Dark {
		t.Error("the defaults do not differ")
	}
}
