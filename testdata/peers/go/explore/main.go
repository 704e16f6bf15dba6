// Explore walks through a server with the client of go-sdk, and prints what it saw as one JSON object:
//
//	explore CALLS http URL
//	explore CALLS stdio COMMAND ARGS…
//
// CALLS is a JSON array of params of tools/call, and with "reports" how often progress is reported, which is waited for.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type outcome struct {
	Value any `json:"value,omitempty"`
	Code  any `json:"code,omitempty"`
	Error any `json:"error,omitempty"`

	Progress []any `json:"progress,omitempty"`
}

func of[T any](v T, err error) outcome {
	if err == nil {
		return outcome{Value: v}
	}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return outcome{Code: wire.Code, Error: wire.Message}
	}
	return outcome{Error: err.Error()}
}

func main() {
	ctx := context.Background()
	var mu sync.Mutex
	var asked []any
	reported := map[any][]any{} // by progress token
	note := func(what any) {
		mu.Lock()
		asked = append(asked, what)
		mu.Unlock()
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "mcphud-test", Version: "1.0.0"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			note(r.Params)
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			note(r.Params)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			token := r.Params.ProgressToken
			reported[token] = append(reported[token], []any{r.Params.Progress, r.Params.Total, r.Params.Message})
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///work", Name: "work"})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: os.Args[3]}
	if os.Args[2] == "stdio" {
		cmd := exec.Command(os.Args[3], os.Args[4:]...)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	s, err := client.Connect(ctx, transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	hello := s.InitializeResult()
	seen := map[string]any{"server": hello.ServerInfo, "capabilities": hello.Capabilities, "instructions": hello.Instructions, "version": hello.ProtocolVersion}
	if hello.Capabilities.Tools != nil {
		seen["tools"] = of(s.ListTools(ctx, nil))
	}
	if hello.Capabilities.Resources != nil {
		list, err := s.ListResources(ctx, nil)
		seen["resources"], seen["templates"] = of(list, err), of(s.ListResourceTemplates(ctx, nil))
		var read []outcome
		for i := 0; err == nil && i < min(3, len(list.Resources)); i++ {
			read = append(read, of(s.ReadResource(ctx, &mcp.ReadResourceParams{URI: list.Resources[i].URI})))
		}
		seen["read"] = read
	}
	if hello.Capabilities.Prompts != nil {
		list, err := s.ListPrompts(ctx, nil)
		seen["prompts"] = of(list, err)
		var got []outcome
		for i := 0; err == nil && i < len(list.Prompts); i++ {
			args := map[string]string{}
			for _, a := range list.Prompts[i].Arguments {
				args[a.Name] = "1"
			}
			got = append(got, of(s.GetPrompt(ctx, &mcp.GetPromptParams{Name: list.Prompts[i].Name, Arguments: args})))
		}
		seen["got"] = got
	}
	var calls []struct {
		Name      string
		Arguments json.RawMessage
		Reports   int
	}
	if err := json.Unmarshal([]byte(os.Args[1]), &calls); err != nil {
		log.Fatal(err)
	}
	var results []outcome
	for i, c := range calls {
		p := &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments}
		token := fmt.Sprintf("call-%d", i)
		p.SetProgressToken(token)
		result := of(s.CallTool(ctx, p))
		for end := time.Now().Add(30 * time.Second); c.Reports > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			result.Progress = reported[token]
			mu.Unlock()
			if len(result.Progress) >= c.Reports {
				break
			}
		}
		results = append(results, result)
	}
	_ = s.Close()
	mu.Lock()
	defer mu.Unlock()
	seen["calls"], seen["asked"] = results, asked
	out, err := json.MarshalIndent(seen, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out))
}
