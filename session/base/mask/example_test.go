package mask_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/base/mask"
)

// What is shown or kept passes one of these; which one depends on what is known of the text.
func Example() {
	fmt.Println(mask.Header("Authorization", "Bearer abcdefgh12345678"))
	fmt.Println(mask.Value("API_KEY", "hunter2"), mask.Value("PORT", "8080"))
	fmt.Println(mask.URL("https://me:hunter2@example.com/mcp?token=hunter2&page=2"))
	fmt.Println(mask.Args([]string{"server", "--password", "hunter2", "--port", "80"}))
	// Output:
	// Bearer ***
	// *** 8080
	// https://***@example.com/mcp?token=***&page=2
	// [server --password *** --port 80]
}
