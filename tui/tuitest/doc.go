// Package tuitest drives the whole UI from outside, like a user: a real tea.Program writes to a terminal emulator, keys
// and mouse events go in as bytes, and assertions read the emulator's cells.
//
//	app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Server("demo", srv), tuitest.Size(120, 40))
//	app.View("tools").Pane("list").Focused().Rows(tuitest.Contains("echo").Selected(), tuitest.Contains("add"))
//	app.Press("enter").Type("hello").Press("ctrl+g")
//	app.Confirm("Call echo?").Says("destroy").Yes().Pane("result").Has("hello")
//	app.Palette().Find("logs").Run("Go to Logs")
//
// Inside a testing/synctest bubble, which is how nearly all tests should run, time is fake: every step ends when the
// whole program is idle, so tests are deterministic and take milliseconds. Outside of a bubble (real processes) an
// assertion is tried again after each change of the screen until a deadline.
//
// Start it inside of the bubble, and make views and servers there too:
//
//	synctest.Test(t, func(t *testing.T) { app := tuitest.Start(t, ...); ... })
//
// Local time is UTC in every test binary that imports this package, so that pictures do not depend on the machine.
//
// A test fails when an error toast was neither looked for with
// [App.Toast] nor dismissed, and when goroutines are left over.
package tuitest

import "os"

// The variable is read when a local time is needed for the first time. Assigning time.Local would race with what other packages started in
// their own init: the NATS server's library has a timer that reads files.
func init() { _ = os.Setenv("TZ", "UTC") }
