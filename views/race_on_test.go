//go:build race

package views_test

// racing is whether the race detector is on, with which everything takes ten
// times as long.
const racing = true
