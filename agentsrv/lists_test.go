package agentsrv_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// eras runs a test against an agent of each profile that people look at, in each era.
func eras(t *testing.T, o agentsrv.Options, test func(t *testing.T, c caller)) {
	t.Helper()
	for _, profile := range []agentsrv.Profile{agentsrv.Demo, agentsrv.Everything} {
		o.Profile = profile
		for _, modern := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/modern=%t", profile, modern), func(t *testing.T) {
				test(t, caller{url: start(t, o), modern: modern})
			})
		}
	}
}

// caller sends requests without a session.
type caller struct {
	url    string
	modern bool
}

// send returns the body of the answer to one request.
func (c caller) send(t *testing.T, method string, params map[string]any) []byte {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
		}
		header.Set("MCP-Protocol-Version", "2026-07-28")
		header.Set("Mcp-Method", method)
		for _, member := range []string{"name", "uri"} {
			if v, ok := params[member].(string); ok {
				header.Set("Mcp-Name", v)
			}
		}
	}
	frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, bytes.NewReader(frame))
	require.NoError(t, err)
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return body
}

// ask decodes the result of a request into v, or returns its error.
func (c caller) ask(t *testing.T, method string, params map[string]any, v any) *jsonrpc.Error {
	t.Helper()
	body := c.send(t, method, params)
	var answer struct {
		Result json.RawMessage
		Error  *jsonrpc.Error
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %v: %s", method, err, body)
	}
	if answer.Error == nil {
		if err := json.Unmarshal(answer.Result, v); err != nil {
			t.Fatalf("%s: %v: %s", method, err, body)
		}
	}
	return answer.Error
}

// lists are the four lists, by method.
var lists = map[string]string{"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}

// items are all items of a list, page by page.
func (c caller) items(t *testing.T, method string, each func(page []json.RawMessage)) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	params := map[string]any{}
	for range 1000 {
		var page map[string]json.RawMessage
		if err := c.ask(t, method, params, &page); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		var items []json.RawMessage
		if err := json.Unmarshal(page[lists[method]], &items); err != nil {
			t.Fatalf("%s: %v in %s", method, err, page)
		}
		each(items)
		all = append(all, items...)
		next, ok := page["nextCursor"]
		if !ok {
			return all
		}
		params = map[string]any{"cursor": next}
	}
	t.Fatalf("%s has no end", method)
	return nil
}

func TestP5_P6_P7_ListsArePagedAndInOrder(t *testing.T) {
	whole := map[string][]json.RawMessage{}
	key := func(t *testing.T, method string) string {
		return strings.Split(strings.TrimPrefix(t.Name(), "TestP5_P6_P7_ListsArePagedAndInOrder/"), "#")[0] + " " + method
	}
	eras(t, agentsrv.Options{}, func(t *testing.T, c caller) {
		for method := range lists {
			if one, two := c.send(t, method, nil), c.send(t, method, nil); !bytes.Equal(one, two) {
				t.Errorf("%s twice:\n%s\n%s", method, one, two)
			}
			pages := 0
			whole[key(t, method)] = c.items(t, method, func([]json.RawMessage) { pages++ })
			assert.Equalf(t, pages, 1, "%s: pages", method)
		}
	})
	eras(t, agentsrv.Options{PageSize: 2}, func(t *testing.T, c caller) {
		for method := range lists {
			var sizes []int
			got := c.items(t, method, func(page []json.RawMessage) { sizes = append(sizes, len(page)) })
			want := whole[key(t, method)]
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%s: %d items on pages of 2, %d on one", method, len(got), len(want))
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s, item %d: %s, want %s", method, i, got[i], want[i])
				}
			}
			for i, n := range sizes {
				if n > 2 || n < 2 && i < len(sizes)-1 {
					t.Errorf("%s: pages of %v", method, sizes)
				}
			}
		}
		if err := c.ask(t, "tools/list", map[string]any{"cursor": "no such cursor"}, &struct{}{}); err == nil || err.Code != -32602 {
			t.Errorf("a cursor that nobody gave: %v", err)
		}
	})
}

func TestP6_D5_EveryResourceCanBeRead(t *testing.T) {
	eras(t, agentsrv.Options{}, func(t *testing.T, c caller) {
		for _, raw := range c.items(t, "resources/list", func([]json.RawMessage) {}) {
			var r struct{ URI, Name, MIMEType string }
			if err := json.Unmarshal(raw, &r); err != nil || r.Name == "" {
				t.Fatalf("%v: %s", err, raw)
			}
			var read struct{ Contents []contents }
			if err := c.ask(t, "resources/read", map[string]any{"uri": r.URI}, &read); err != nil {
				t.Errorf("%s: %v", r.URI, err)
				continue
			}
			for _, part := range read.Contents {
				if part.URI == "" || (part.Text == "") == (part.Blob == "") {
					t.Errorf("%s: %+v", r.URI, part)
				}
				if _, err := base64.StdEncoding.DecodeString(part.Blob); err != nil {
					t.Errorf("%s: %v", r.URI, err)
				}
			}
			if len(read.Contents) == 0 {
				t.Errorf("%s: nothing", r.URI)
			}
		}
		var read struct{ Contents []contents }
		if err := c.ask(t, "resources/read", map[string]any{"uri": "demo://note/a%20b"}, &read); err != nil || len(read.Contents) != 1 || read.Contents[0].URI != "demo://note/a%20b" || read.Contents[0].Text != "Note a b.\n" {
			t.Errorf("template: %v, %+v", err, read)
		}
	})
}

func TestP7_PromptsWithAndWithoutArguments(t *testing.T) {
	eras(t, agentsrv.Options{}, func(t *testing.T, c caller) {
		for _, raw := range c.items(t, "prompts/list", func([]json.RawMessage) {}) {
			var p struct {
				Name      string
				Arguments []struct {
					Name     string
					Required bool
				}
			}
			require.NoError(t, json.Unmarshal(raw, &p))
			arguments, required := map[string]any{}, false
			for _, a := range p.Arguments {
				arguments[a.Name] = "value"
				required = required || a.Required
			}
			var got struct {
				ResultType string
				Messages   []struct{ Role string }
			}
			err := c.ask(t, "prompts/get", map[string]any{"name": p.Name, "arguments": arguments}, &got)
			asks := p.Name == "test_input_required_result_prompt"
			switch {
			case asks && c.modern:
				if err != nil || got.ResultType != "input_required" {
					t.Errorf("%s: %v, %+v", p.Name, err, got)
				}
			case asks: // nobody who could be asked
				if err == nil || err.Code != -32000 {
					t.Errorf("%s: %v, %+v", p.Name, err, got)
				}
			case err != nil || len(got.Messages) == 0 || got.Messages[0].Role == "":
				t.Errorf("%s with all arguments: %v, %+v", p.Name, err, got)
			}
			if asks {
				continue
			}
			err = c.ask(t, "prompts/get", map[string]any{"name": p.Name}, &got)
			if required != (err != nil) || err != nil && err.Code != -32602 {
				t.Errorf("%s without arguments: %v", p.Name, err)
			}
		}
		if err := c.ask(t, "prompts/get", map[string]any{"name": "nope"}, &struct{}{}); err == nil || err.Code != -32602 {
			t.Errorf("an unknown prompt: %v", err)
		}
	})
}

// Every kind of content arrives as it left: what is base64 decodes, pictures are pictures.
func TestD3_EveryKindOfContent(t *testing.T) {
	eras(t, agentsrv.Options{}, func(t *testing.T, c caller) {
		var res toolResult
		if err := c.ask(t, "tools/call", map[string]any{"name": "contents", "arguments": map[string]any{}}, &res); err != nil {
			t.Fatal(err)
		}
		begins := map[string]string{"image": "\x89PNG\r\n\x1a\n", "audio": "RIFF"}
		kinds := map[string]int{}
		for _, b := range res.Content {
			kinds[b.Type]++
			if want, ok := begins[b.Type]; ok {
				data, err := base64.StdEncoding.DecodeString(b.Data)
				if err != nil || !bytes.HasPrefix(data, []byte(want)) || b.MIMEType == "" {
					t.Errorf("%s: %v, %.20q", b.Type, err, data)
				}
			}
			if b.Resource != nil && b.Resource.Blob != "" {
				data, err := base64.StdEncoding.DecodeString(b.Resource.Blob)
				if err != nil || len(data) != 256 || data[0] != 0 || data[255] != 255 {
					t.Errorf("blob: %v, %d bytes", err, len(data))
				}
			}
		}
		if kinds["text"] != 3 || kinds["image"] != 1 || kinds["audio"] != 1 || kinds["resource"] != 2 || kinds["resource_link"] != 1 || res.IsError {
			t.Errorf("%v, isError %t", kinds, res.IsError)
		}
	})
}

// A result is told twice, as JSON text and as structured content, and both are the same value.
func TestD4_TextAndStructuredContentAgree(t *testing.T) {
	for _, modern := range []bool{false, true} {
		c := caller{url: start(t, agentsrv.Options{}), modern: modern}
		for name, arguments := range map[string]string{
			"lookup_entity":         `{"entity_type":"service","query":"express","tenant_id":"default"}`,
			"search_knowledge_base": `{"query":"session","tenant_id":"default"}`,
			"queue_status":          `{}`,
			"execute_code":          `{"code":"({a: [1, 'x', null]})"}`,
		} {
			var res struct {
				IsError           bool
				Content           []block
				StructuredContent json.RawMessage
			}
			if err := c.ask(t, "tools/call", map[string]any{"name": name, "arguments": json.RawMessage(arguments)}, &res); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if res.IsError || len(res.Content) == 0 || len(res.StructuredContent) == 0 {
				t.Errorf("%s: %+v", name, res)
				continue
			}
			var text, structured any
			if err := json.Unmarshal([]byte(res.Content[0].Text), &text); err != nil {
				t.Errorf("%s: %v in %s", name, err, res.Content[0].Text)
			}
			if err := json.Unmarshal(res.StructuredContent, &structured); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if fmt.Sprint(text) != fmt.Sprint(structured) {
				t.Errorf("%s: %v is not %v", name, text, structured)
			}
		}
	}
}
