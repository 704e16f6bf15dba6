package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/peertest"
)

// TestConformanceClient: the official suite's scenarios for clients pass in each revision, without a list of exceptions, and every message
// that was sent is what the revision's schema allows. So they do where the client has to find out what the server speaks.
func TestConformanceClient(t *testing.T) {
	for _, revision := range peertest.Revisions() {
		frames := peertest.NewFrames(t, revision.Name)
		for _, scenario := range revision.ClientScenarios(t) {
			for name, flags := range map[string][]string{"told": nil, "detected": {"--protocol", "auto"}} {
				t.Run(revision.Name+"/"+scenario+"/"+name, func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "journal")
					client := command(t, append(flags, "conformance", "--journal", file)...)
					revision.RunClient(t, scenario, strings.Join(client.Args, " "), client.Env...)
					checkSent(t, frames, file)
				})
			}
		}
	}
}

// checkSent checks what a journal has of messages that we sent.
func checkSent(t *testing.T, frames *peertest.Frames, journal string) {
	t.Helper()
	f, err := os.Open(journal)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sent := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct {
			Dir, Kind, Method string
			Frame             json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Dir != "out" || e.Frame == nil {
			continue
		}
		sent++
		if err := frames.Check(e.Method, e.Frame); err != nil {
			t.Errorf("%s: %v\n%s", e.Method, err, e.Frame)
		}
	}
	if err := lines.Err(); err != nil || sent == 0 {
		t.Errorf("%d messages were sent: %v", sent, err)
	}
}
