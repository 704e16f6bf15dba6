package basics

import (
	"strings"
	"testing"
)

func TestSumsBeyondFloats(t *testing.T) {
	for _, n := range []string{"1e999", strings.Repeat("9", maxDigit+1)} {
		if sum, _, err := sumOf(n, "1"); err == nil {
			t.Errorf("%.10s + 1 = %s", n, sum)
		}
	}
}
