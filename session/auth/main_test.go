package auth_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
