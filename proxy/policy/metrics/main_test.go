package metrics

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
