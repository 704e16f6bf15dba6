// Package assert compares what a test is about with what was wanted, and says both where they differ. The test goes on; package require ends it.
// A comparison that needs its own words is an if statement.
package assert

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Equal fails the test unless got == want.
func Equal[T comparable](tb testing.TB, got, want T) {
	if got != want {
		tb.Helper()
		tb.Errorf("got %s, want %s", shown(got), shown(want))
	}
}

// Equalf does so too, and says before it which of several things it was.
func Equalf[T comparable](tb testing.TB, got, want T, format string, args ...any) {
	if got != want {
		tb.Helper()
		tb.Errorf("%s: got %s, want %s", fmt.Sprintf(format, args...), shown(got), shown(want))
	}
}

// shown is a value, lines below each other, and what is empty or ends with a blank to be seen.
func shown(v any) string {
	switch r := reflect.ValueOf(v); {
	case r.Kind() != reflect.String:
		return fmt.Sprintf("%+v", v)
	case strings.Contains(r.String(), "\n"):
		return "\n" + r.String()
	default:
		return fmt.Sprintf("%q", r.String())
	}
}

// Contains fails the test unless text has all the parts.
func Contains(tb testing.TB, text string, parts ...string) {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			tb.Helper()
			tb.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// NotContains fails the test if text has one of the parts.
func NotContains(tb testing.TB, text string, parts ...string) {
	for _, p := range parts {
		if strings.Contains(text, p) {
			tb.Helper()
			tb.Errorf("%q is in:\n%s", p, text)
		}
	}
}

// NoError fails the test with err, if there is one.
func NoError(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Error(err)
	}
}

// ErrorIs fails the test unless err is want or wraps it.
func ErrorIs(tb testing.TB, err, want error) {
	if !errors.Is(err, want) {
		tb.Helper()
		tb.Errorf("got the error %v, want %v", err, want)
	}
}

// ErrorContains fails the test unless there is an error that says all the parts.
func ErrorContains(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("no error, want one that says %q", parts)
		return
	}
	Contains(tb, err.Error(), parts...)
}
