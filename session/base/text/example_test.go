package text_test

import (
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

func Example() {
	fmt.Println(text.Count(1, "tool"), text.Count(3, "tool"), text.Count(2, "entry", "entries"))
	fmt.Println(text.Bytes(1_500_000), text.Duration(1234*time.Millisecond))
	fmt.Println(text.Nearest("serch", []string{"search", "reach", "list"}))
	words, err := text.Words(`node server.js --name "my shop"`)
	fmt.Printf("%q %v\n", words, err)
	// Output:
	// 1 tool 3 tools 2 entries
	// 1.5 MB 1.23s
	// search
	// ["node" "server.js" "--name" "my shop"] <nil>
}
