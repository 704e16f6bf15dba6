package fuzz

import (
	"os"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
)

func TestMemoryThatGrows(t *testing.T) {
	t.Parallel()
	cfg := config.Server{Transport: config.Stdio, Command: os.Args[0], Env: map[string]string{leaks: "1"}}
	rep := fuzzed(t, cfg, Options{Seed: 1, Runs: 5, For: time.Hour, Timeout: 30 * time.Second})
	var grown []check.Finding
	for _, f := range rep.Findings {
		if f.ID == "fuzz/memory" {
			grown = append(grown, f)
		}
	}
	if len(grown) != 1 || grown[0].Place.Name != "leaks" {
		t.Errorf("%+v", grown)
	}
}
