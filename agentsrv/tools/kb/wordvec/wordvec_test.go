package wordvec

import (
	"bytes"
	"math"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func cosine(t *testing.T, w *Words, a, b string) float64 {
	t.Helper()
	va, vb := make([]float32, w.Dims), make([]float32, w.Dims)
	w.Add(va, a, 1)
	w.Add(vb, b, 3)
	Unit(va)
	Unit(vb)
	var sum float64
	for i := range va {
		sum += float64(va[i] * vb[i])
	}
	return sum
}

func TestT3b_WordsThatMeanTheSameAreNear(t *testing.T) {
	w, err := Builtin()
	require.NoError(t, err)
	if len(w.at) < 15_000 || w.Dims != 100 {
		t.Errorf("%d words of %d numbers", len(w.at), w.Dims)
	}
	for _, near := range [][3]string{{"car", "vehicle", "banana"}, {"password", "passwords", "river"}, {"begin", "start", "yellow"}, {"restarting", "restart", "poem"}} {
		if like, other := cosine(t, w, near[0], near[1]), cosine(t, w, near[0], near[2]); like < 0.4 || other > like/2 {
			t.Errorf("%s is %.2f to %s and %.2f to %s", near[0], like, near[1], other, near[2])
		}
	}
	if sum := make([]float32, w.Dims); true {
		w.Add(sum, "zqxv", 1)
		Unit(sum)
		assert.Equalf(t, sum[0], 0, "a word that nobody writes has a vector")
	}
}

// The rarer of two words says more about what a text is about.
func TestT3b_RareWordsCountMore(t *testing.T) {
	w, err := Builtin()
	require.NoError(t, err)
	length := func(word string) (s float64) {
		v := make([]float32, w.Dims)
		w.Add(v, word, 1)
		for _, x := range v {
			s += float64(x * x)
		}
		return math.Sqrt(s)
	}
	if year, router := length("year"), length("router"); year >= router || year == 0 {
		t.Errorf("year counts %v, router %v", year, router)
	}
}

func TestT3b_WriteAndRead(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Write(&out, []string{"up", "down", "left"}, [][]float32{{0, 2, 0}, {0, -0.5, 0}, {-3, 0, 1}}))
	w, err := Read(out.Bytes())
	if err != nil || w.Dims != 3 {
		t.Fatal(err)
	}
	if c := cosine(t, w, "up", "down"); c > -0.999 {
		t.Error(c)
	}
	assert.Equal(t, cosine(t, w, "up", "left"), 0)
}

// No bytes are a panic, nor much memory.
func FuzzRead(f *testing.F) {
	f.Add(file[:100])
	var out bytes.Buffer
	require.NoError(f, Write(&out, []string{"a", "b"}, [][]float32{{1, 2}, {2, 1}}))
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if w, err := Read(b); err == nil {
			w.Add(make([]float32, w.Dims), "a", 1)
		}
	})
}
