package compare_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/traffic/compare"
)

// What two runs of the same call change anyway is noise; Learn takes it from them, and Values tells the rest from it.
func ExampleValues() {
	first, second := `{"id":"a1","at":1764300000,"total":3}`, `{"id":"b2","at":1764300009,"total":3}`
	noise := compare.Learn([]byte(first), []byte(second))
	r := compare.Values([]byte(second), []byte(`{"id":"c3","at":1764300042,"total":4}`), compare.Options{Noise: noise})
	for _, d := range r.Differences {
		fmt.Println(d.Pointer, d.Op, string(d.Before), string(d.After), d.Class)
	}
	fmt.Println(r.Summary())
	// Output:
	// /id changed "b2" "c3" varies
	// /at changed 1764300009 1764300042 varies
	// /total changed 3 4 real
	// 1 difference, and 2 expected
}
