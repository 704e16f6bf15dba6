package registry_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/catalog/registry"
)

// An entry of a registry says how a server is started or reached.
func ExampleParseEntry() {
	e, err := registry.ParseEntry([]byte(`{"server": {"name": "io.example/shop", "description": "Finds items", "version": "1.2.0",
		"packages": [{"registryType": "npm", "identifier": "shop-mcp", "version": "1.2.0", "transport": {"type": "stdio"}}],
		"remotes": [{"type": "streamable-http", "url": "https://shop.example/mcp"}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range e.Candidates(func(command string) bool { return command == "npx" }) {
		s, err := c.Server(nil)
		fmt.Printf("%s: %q %q %v\n", c.Title, append([]string{s.Command}, s.Args...), s.URL, err)
	}
	// Output:
	// remote https://shop.example/mcp: [""] "https://shop.example/mcp" <nil>
	// npm shop-mcp@1.2.0 by npx: ["npx" "-y" "shop-mcp@1.2.0"] "" <nil>
}
