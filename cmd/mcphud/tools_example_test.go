package main

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// What --example prints is what a call takes.
func TestToolsShowExample(t *testing.T) {
	example := mcphud(t, fake(t, behave.Good, "tools", "show", "add", "--example")...).ok(t)
	if example != `{"a":0,"b":0}`+"\n" {
		t.Errorf("the example is %s", example)
	}
	mcphud(t, fake(t, behave.Good, "tools", "call", "add", "--args", example)...).ok(t)
}
