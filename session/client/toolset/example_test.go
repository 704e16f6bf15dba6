package toolset_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/client/toolset"
)

// Tools of several servers have one name each, as agents see them.
func ExampleFullName() {
	fmt.Println(toolset.FullName("shop", "find_item"))
	for _, ref := range toolset.Candidates("mcp__shop__find_item", []string{"shop", "docs"}) {
		fmt.Println(ref.Server, ref.Tool)
	}
	// Output:
	// mcp__shop__find_item
	// shop find_item
}
