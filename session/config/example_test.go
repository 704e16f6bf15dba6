package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcphud/mcphud/session/config"
)

// The files of every program that knows MCP servers are read; each entry keeps where it stands. Here one file is named.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, []byte(`{
		"mcpServers": {
			"shop": {"command": "node", "args": ["shop.js"], "env": {"SHOP_TOKEN": "${TOKEN}"}},
			"docs": {"url": "https://example.com/mcp"}
		}
	}`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	set, err := config.Load(config.Options{Files: []string{file}, LookupEnv: func(name string) (string, bool) { return "secret", name == "TOKEN" }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range set.Servers {
		fmt.Printf("%s %s %q %q %v\n", s.Name, s.Transport, append([]string{s.Command}, s.Args...), s.URL, s.Env)
	}
	// Output:
	// shop stdio ["node" "shop.js"] "" map[SHOP_TOKEN:secret]
	// docs auto [""] "https://example.com/mcp" map[]
}

// A server is written as another program has it, with what that one cannot say.
func ExampleEncode() {
	entry, lost, err := config.Encode("zed", config.Server{Name: "shop", Transport: config.Stdio, Command: "node", Args: []string{"shop.js"}, Roots: []string{"/work"}})
	fmt.Printf("%s%q %v\n", entry, lost, err)
	// Output:
	// {
	//   "context_servers": {
	//     "shop": {
	//       "command": "node",
	//       "args": ["shop.js"]
	//     }
	//   }
	// }
	// ["roots: Zed has no such setting"] <nil>
}
