package agentsrv_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// observed is what testdata/conformance/clients.mjs prints.
type observed struct {
	Version string
	Server  struct{ Name, Version string }
	Tools   []struct {
		Name        string
		InputSchema json.RawMessage
	}
	Resources, Templates, Prompts    []struct{ Name, URI, URITemplate string }
	Echo, Add, Fail, Contents, Slept toolResult
	AfterCancel                      toolResult
	Read                             [][]contents
	Note                             struct{ Contents []contents }
	Prompt                           struct {
		Messages []struct {
			Role    string
			Content block
		}
	}
	Completion struct{ Completion struct{ Values []string } }
	Progress   []struct {
		Progress, Total float64
		Message         string
	}
	Logs []string
	Ping json.RawMessage

	UnknownTool, UnknownResource, PromptWithout, Cancelled *struct {
		Name, Message string
		Code          json.RawMessage
	}
	CancelMs int
}

type toolResult struct {
	IsError           bool
	Content           []block
	StructuredContent map[string]any
}

type block struct {
	Type, Text, Data, MIMEType, URI string
	Resource                        *contents
}

type contents struct{ URI, MIMEType, Text, Blob string }

// Clients that are not ours list, call, read, get prompts and completions, see progress, cancel, and set a log level.
func TestPeerNodeSDK(t *testing.T) {
	node, script := peertest.Script(t, "clients.mjs")
	for generation, version := range map[string]string{"v1": "2025-11-25", "v2": "2026-07-28"} {
		t.Run(generation, func(t *testing.T) {
			url := start(t, agentsrv.Options{Profile: agentsrv.Demo})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, script, generation, url)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, tail(errs.Bytes()))
			}
			var o observed
			if err := json.Unmarshal(out, &o); err != nil {
				t.Fatalf("%v: %s", err, tail(out))
			}
			if o.Version != version {
				t.Errorf("speaks %s", o.Version)
			}
			o.checkOffers(t)
			o.checkCalls(t)
			o.checkReads(t)
			if generation == "v1" && (!slices.Equal(o.Logs, []string{"error", "critical", "alert", "emergency"}) || string(o.Ping) != "{}") {
				t.Errorf("logs %v, ping %s", o.Logs, o.Ping)
			}
		})
	}
}

func (o *observed) checkOffers(t *testing.T) {
	t.Helper()
	if o.Server.Name != "mcphud-agent" || o.Server.Version != "1.0.0" {
		t.Errorf("server %+v", o.Server)
	}
	var tools []string
	for _, tool := range o.Tools {
		tools = append(tools, tool.Name)
		if !bytes.HasPrefix(tool.InputSchema, []byte("{")) {
			t.Errorf("%s: schema %s", tool.Name, tool.InputSchema)
		}
	}
	for _, want := range []string{"echo", "add", "sleep", "form_gallery", "execute_code", "search_knowledge_base", "ask_agent", "create_agent", "lookup_entity"} {
		if !slices.Contains(tools, want) {
			t.Errorf("no tool %s among %v", want, tools)
		}
	}
	if len(o.Resources) == 0 || len(o.Templates) == 0 || len(o.Prompts) == 0 {
		t.Errorf("%d resources, %d templates, %d prompts", len(o.Resources), len(o.Templates), len(o.Prompts))
	}
}

func (o *observed) checkCalls(t *testing.T) {
	t.Helper()
	if o.Echo.IsError || len(o.Echo.Content) != 1 || o.Echo.Content[0].Text != "grüß 🙂" {
		t.Errorf("echo: %+v", o.Echo)
	}
	if o.Add.StructuredContent["sum"] != 42.0 {
		t.Errorf("add: %+v", o.Add)
	}
	if !o.Fail.IsError || len(o.Fail.Content) != 1 || o.Fail.Content[0].Text != "as asked" {
		t.Errorf("fail: %+v", o.Fail)
	}
	kinds := map[string]bool{}
	for _, c := range o.Contents.Content {
		kinds[c.Type] = true
	}
	if len(kinds) != 5 {
		t.Errorf("contents of kinds %v", kinds)
	}
	if o.UnknownTool == nil || string(o.UnknownTool.Code) != "-32602" || !strings.Contains(o.UnknownTool.Message, "Tool 'nope' not found") {
		t.Errorf("unknown tool: %+v", o.UnknownTool)
	}
	if n := len(o.Progress); n != 5 || o.Progress[n-1].Progress != 5 || o.Progress[n-1].Total != 5 {
		t.Errorf("progress %+v", o.Progress)
	}
	if o.Cancelled == nil || o.CancelMs > 10_000 || len(o.AfterCancel.Content) != 1 || o.AfterCancel.Content[0].Text != "still here" {
		// The queue runs one call at a time, so that the echo waits for a sleep that was not cancelled.
		t.Errorf("cancelled %+v, then %+v after %d ms", o.Cancelled, o.AfterCancel, o.CancelMs)
	}
}

func (o *observed) checkReads(t *testing.T) {
	t.Helper()
	for i, read := range o.Read {
		if len(read) == 0 || read[0].URI != o.Resources[i].URI || read[0].Text == "" && read[0].Blob == "" {
			t.Errorf("read %s: %+v", o.Resources[i].URI, read)
		}
	}
	if c := o.Note.Contents; len(c) != 1 || c[0].Text != "Note ideas.\n" {
		t.Errorf("note: %+v", c)
	}
	if o.UnknownResource == nil || o.PromptWithout == nil || string(o.PromptWithout.Code) != "-32602" {
		t.Errorf("unknown resource %+v, prompt without its argument %+v", o.UnknownResource, o.PromptWithout)
	}
	if m := o.Prompt.Messages; len(m) != 1 || m[0].Role != "user" || !strings.Contains(m[0].Content.Text, "Ada") {
		t.Errorf("prompt: %+v", m)
	}
	if v := o.Completion.Completion.Values; !slices.Equal(v, []string{"Ada", "Alan"}) {
		t.Errorf("completion: %v", v)
	}
}
