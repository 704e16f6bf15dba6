package confine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
)

// tries is set in a child, which does as its arguments say and prints how each ended.
const tries = "MCPHUD_CONFINE_TRIES"

func TestMain(m *testing.M) {
	if os.Getenv(lacks) != "" {
		os.Exit(withoutLandlock())
	}
	if os.Getenv(tries) != "" {
		out := map[string]string{}
		for _, a := range os.Args[1:] {
			out[a] = fmt.Sprint(attempt(a)) // "<nil>" where it is allowed
		}
		_ = json.NewEncoder(os.Stdout).Encode(out)
		os.Exit(0)
	}
	leaktest.Main(m)
}
