package sse_test

import (
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/wire/sse"
)

// Events come one at a time; a line with a colon in front, which keeps a connection open, is none.
func ExampleReader() {
	r := sse.NewReader(strings.NewReader(": still here\n\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"ping\"}\n\n"), 1<<20, 1<<20)
	e, err := r.Next()
	fmt.Printf("%s %q %v, last id %s\n", e.Name, e.Data, err, r.LastID())
	_, err = r.Next()
	fmt.Println(err)
	// Output:
	// message "{\"jsonrpc\":\"2.0\",\n\"method\":\"ping\"}" <nil>, last id 7
	// EOF
}
