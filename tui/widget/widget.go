// Package widget holds the reusable parts of screens: list, table, pager, JSON
// tree, input line, progress. They know neither MCP nor the shell.
//
// Each is a plain struct: sizes, keys and mouse events go in through methods, rows come out of Lines, each at most as
// wide as the widget, cached until something changed. None starts a goroutine or does I/O. What can take long
// (searching 50 MB, decoding an image) is a function of its own that the caller runs elsewhere, with a context.
//
// What bubbles (charm.land/bubbles) has is used where the size of data allows it: text input, text area, key hints, file
// picker, spinner, progress bar, paginator. Its viewport, list, table and tree look at all of their content at each key or
// draw (100,000 lines: 260 ms, 10,000 rows: 4 ms, 1,000 nodes: 0.5 s); ours look at what is visible.
package widget

// MouseKind says what the mouse did.
type MouseKind uint8

// What the mouse did.
const (
	Click MouseKind = iota
	DoubleClick
	WheelUp
	WheelDown
	WheelLeft
	WheelRight
)

// Mouse is a mouse event; X and Y are cells from the widget's top left corner.
type Mouse struct {
	Kind MouseKind
	X, Y int
}

// Hit says what a mouse event meant.
type Hit uint8

// What a mouse event meant.
const (
	HitNone   Hit = iota // nothing there
	HitScroll            // rows moved
	HitSelect            // the cursor moved to what was clicked
	HitOpen              // a double click on a row: open it
)

// wheel is how many rows a notch of the wheel scrolls.
const wheel = 3
