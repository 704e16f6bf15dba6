// Command fortyline is the least program that lists a server's tools with
// mcp-go's client: what mcphud's cold start is measured against.
//
//	fortyline COMMAND ARGS…
//	fortyline URL
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	init := mcp.InitializeRequest{}
	init.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	init.Params.ClientInfo = mcp.Implementation{Name: "fortyline", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, init); err != nil {
		log.Fatal(err)
	}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tools.Tools {
		fmt.Printf("%s: %s\n", t.Name, t.Description)
	}
	os.Exit(0) // Close would wait for servers that do not leave
}

func connect(ctx context.Context) (*client.Client, error) {
	if !strings.HasPrefix(os.Args[1], "http") {
		return client.NewStdioMCPClient(os.Args[1], nil, os.Args[2:]...)
	}
	c, err := client.NewStreamableHttpClient(os.Args[1])
	if err == nil {
		err = c.Start(ctx)
	}
	return c, err
}
