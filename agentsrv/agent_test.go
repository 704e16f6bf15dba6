package agentsrv

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestEcho(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		if r := c.call("echo", `{"message":"grüß 🙂 <b>"}`); r.IsError || r.Content[0].Text != "grüß 🙂 <b>" {
			t.Errorf("%+v", r)
		}
		if r := c.call("echo", `{}`); !r.IsError {
			t.Errorf("a missing message was accepted: %+v", r)
		}
	})
}

func TestAdd(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		for in, want := range map[string]string{
			`{"a":1,"b":2}`:                        `{"sum":3,"exact":true}`,
			`{"a":9007199254740993,"b":1}`:         `{"sum":9007199254740994,"exact":true}`,
			`{"a":1.5,"b":2}`:                      `{"sum":3.5,"exact":false}`,
			`{"a":-1,"b":10000000000000000000000}`: `{"sum":9999999999999999999999,"exact":true}`,
		} {
			if r := c.call("add", in); string(r.StructuredContent) != want {
				t.Errorf("%s: %s, want %s", in, r.StructuredContent, want)
			}
		}
		for _, in := range []string{`{"a":1}`, `{"a":"x","b":1}`, `{"a":1.7e308,"b":1.7e308}`} {
			if r := c.call("add", in); !r.IsError || r.Content[0].Text == "" {
				t.Errorf("%.40s: %+v", in, r)
			}
		}
	})
}

func TestFailAndReset(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		if r := c.call("fail", `{"message":"no"}`); !r.IsError || r.Content[0].Text != "no" {
			t.Errorf("%+v", r)
		}
		c.call("reset_counter", `{}`)
		c.call("echo", `{"message":""}`)
		// The reset counts as a call of its own.
		if r := c.call("reset_counter", `{}`); string(r.StructuredContent) != `{"was":2,"now":0}` {
			t.Errorf("%s", r.StructuredContent)
		}
	})
}

func TestSleepProgressArrivesInFull(t *testing.T) {
	const steps = 500 // more than mcp-go's queue of 100 holds, sent without a pause
	bothEras(t, func(t *testing.T, c *client) {
		m, notes := c.roundTrip("tools/call", fmt.Sprintf(`{"name":"sleep","arguments":{"seconds":0,"steps":%d},"_meta":{"progressToken":"p"}}`, steps))
		if m.Error != nil {
			t.Fatalf("%+v", m.Error)
		}
		if len(notes) != steps {
			t.Fatalf("%d of %d progress notifications arrived", len(notes), steps)
		}
		for i, n := range notes {
			var p struct {
				ProgressToken   string
				Progress, Total float64
			}
			if err := json.Unmarshal(n.Params, &p); err != nil || n.Method != "notifications/progress" || p.ProgressToken != "p" || p.Progress != float64(i+1) || p.Total != steps {
				t.Fatalf("notification %d: %s %s", i, n.Method, n.Params)
			}
		}
	})
}

// The notifications that a handler sends right before it returns are the ones that mcp-go alone loses.
func TestLastNotificationIsNotLost(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		for range 100 {
			if _, notes := c.roundTrip("tools/call", `{"name":"sleep","arguments":{"seconds":0,"steps":1},"_meta":{"progressToken":1}}`); len(notes) != 1 {
				t.Fatalf("%d notifications, want 1", len(notes))
			}
		}
	})
}

// A legacy client usually has a stream open besides: notifications about a request do not stray onto it.
func TestNotificationsStayWithTheirRequest(t *testing.T) {
	_, cs := serve(t, Options{})
	c := cs["legacy"]
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", c.session)
	stream, err := c.hc.Do(req)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(err, stream.Status)
	}
	_, notes := c.roundTrip("tools/call", `{"name":"sleep","arguments":{"seconds":0,"steps":300},"_meta":{"progressToken":1}}`)
	assert.Equalf(t, len(notes), 300, "of 300 came on the request's own stream")
	cancel()
	if rest, _ := io.ReadAll(stream.Body); bytes.Contains(rest, []byte("progress")) {
		t.Errorf("the other stream got %.100s", rest)
	}
	_ = stream.Body.Close()
}

func TestSleepIsCancelled(t *testing.T) {
	ended := func(c *client, cancel func()) time.Duration {
		res := c.do(context.Background(), "tools/call", `{"name":"sleep","arguments":{"seconds":600,"steps":100000},"_meta":{"progressToken":1}}`)
		defer res.Body.Close()
		buf := make([]byte, 1)
		if _, err := res.Body.Read(buf); err != nil { // it runs now
			c.t.Fatal(err)
		}
		start := time.Now()
		cancel()
		_, _ = io.Copy(io.Discard, res.Body)
		return time.Since(start)
	}
	_, cs := serve(t, Options{})
	t.Run("legacy by notification", func(t *testing.T) {
		c := cs["legacy"]
		d := ended(c, func() {
			res := c.post(context.Background(), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.id.Load()), "")
			_ = res.Body.Close()
		})
		if d > 30*time.Second {
			t.Errorf("ended after %v", d)
		}
	})
	t.Run("modern by closing the stream", func(t *testing.T) {
		// Serve's cleanup waits for the handler: it would hang for ten minutes if the handler went on.
		ctx, cancel := context.WithCancel(context.Background())
		res := cs["modern"].do(ctx, "tools/call", `{"name":"sleep","arguments":{"seconds":600,"steps":100000},"_meta":{"progressToken":1}}`)
		_, _ = res.Body.Read(make([]byte, 1))
		cancel()
		_ = res.Body.Close()
	})
}

func TestGalleryReturnsWhatItReceived(t *testing.T) {
	const args = `{"version":2.0,"big":9007199254740993,"name":"Ada","kind":"person","anything":{"b":[],"a":null,"t":"<&>\u2028"},"always":1e2}`
	bothEras(t, func(t *testing.T, c *client) {
		r := c.call("form_gallery", args)
		assert.Equalf(t, r.Content[0].Text, args, "text")
		want := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(args)
		assert.Equalf(t, string(r.StructuredContent), want, "structured")
		for _, wrong := range []string{`{"name":"Ada"}`, `{"name":"Ada","kind":"robot"}`, `{"name":"Ada","kind":"person","age":"42"}`} {
			if r := c.call("form_gallery", wrong); !r.IsError {
				t.Errorf("%s is accepted, which the schema forbids: %s", wrong, r.Content[0].Text)
			}
		}
	})
}

func TestGallerySchemaIsSentWhole(t *testing.T) {
	var want bytes.Buffer
	schema, err := os.ReadFile("tools/basics/gallery.json")
	require.NoError(t, err)
	require.NoError(t, json.Compact(&want, schema))
	expect := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(want.String())
	bothEras(t, func(t *testing.T, c *client) {
		var l struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
			}
		}
		require.NoError(t, json.Unmarshal(c.result("tools/list", ""), &l))
		i := slices.IndexFunc(l.Tools, func(t struct {
			Name        string
			InputSchema json.RawMessage
		},
		) bool {
			return t.Name == "form_gallery"
		})
		if got := string(l.Tools[i].InputSchema); got != expect {
			t.Errorf("sent %d bytes that differ from the schema's %d", len(got), len(expect))
		}
	})
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		var l struct {
			Tools []struct {
				Name, Title, Description string
				Annotations              struct{ ReadOnlyHint, DestructiveHint *bool }
			}
		}
		require.NoError(t, json.Unmarshal(c.result("tools/list", ""), &l))
		var names []string
		for _, x := range l.Tools {
			names = append(names, x.Name)
			a := x.Annotations
			if destructive := a.DestructiveHint != nil && *a.DestructiveHint; destructive != (x.Name == "reset_counter" || x.Name == "call_agent") || a.ReadOnlyHint == nil || *a.ReadOnlyHint && destructive {
				t.Errorf("%s: %+v", x.Name, a)
			}
			if x.Title == "" || x.Description == "" {
				t.Errorf("%s has no title or description", x.Name)
			}
		}
		for _, want := range []string{"add", "contents", "echo", "execute_code", "fail", "form_gallery", "log", "queue_status", "reset_counter", "sleep"} {
			if !slices.Contains(names, want) {
				t.Errorf("there is no %s among %v", want, names)
			}
		}
	})
}

func TestContents(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		r := c.call("contents", `{}`)
		var types []string
		for _, x := range r.Content {
			types = append(types, x.Type)
		}
		if want := []string{"text", "text", "text", "image", "audio", "resource", "resource", "resource_link"}; !slices.Equal(types, want) {
			t.Fatalf("%v, want %v", types, want)
		}
		img, err := base64.StdEncoding.DecodeString(r.Content[3].Data)
		require.NoError(t, err)
		if p, err := png.Decode(bytes.NewReader(img)); err != nil || p.Bounds().Dx() != 32 {
			t.Errorf("image: %v", err)
		}
		wav, err := base64.StdEncoding.DecodeString(r.Content[4].Data)
		if err != nil || !bytes.HasPrefix(wav, []byte("RIFF")) || len(wav) != 1644 {
			t.Errorf("audio: %v, %d bytes", err, len(wav))
		}
		if r.Content[5].Resource.Text == "" || r.Content[6].Resource.Blob == "" || r.Content[7].URI != "demo://readme" {
			t.Errorf("%+v", r.Content[5:])
		}
		if !json.Valid([]byte(r.Content[2].Text)) || string(r.Content[0].Annotations) != `{"audience":["user"],"priority":0.5}` {
			t.Errorf("%+v", r.Content[0])
		}
		if one := c.call("contents", `{"kind":"audio"}`); len(one.Content) != 1 || one.Content[0].Type != "audio" {
			t.Errorf("%+v", one)
		}
		if bad := c.call("contents", `{"kind":"smell"}`); !bad.IsError {
			t.Errorf("%+v", bad)
		}
	})
}

func TestResources(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		readOne := func(uri string) (text, blob string) {
			var r struct {
				Contents []struct{ URI, Text, Blob string }
			}
			require.NoError(t, json.Unmarshal(c.result("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)), &r))
			if len(r.Contents) != 1 || r.Contents[0].URI != uri {
				t.Fatalf("%s: %+v", uri, r)
			}
			return r.Contents[0].Text, r.Contents[0].Blob
		}
		if text, _ := readOne("demo://readme"); !strings.HasPrefix(text, "# mcphud demo\n") {
			t.Errorf("readme: %q", text)
		}
		_, blob := readOne("demo://logo")
		raw, err := base64.StdEncoding.DecodeString(blob)
		require.NoError(t, err)
		if _, err := png.Decode(bytes.NewReader(raw)); err != nil {
			t.Errorf("logo: %v", err)
		}
		if text, _ := readOne("demo://note/caf%C3%A9"); text != "Note café.\n" {
			t.Errorf("note: %q", text)
		}
		want := int64(-32001)
		if c.modern {
			want = -32602
		}
		if m, _ := c.roundTrip("resources/read", `{"uri":"demo://nowhere"}`); m.Error == nil || m.Error.Code != want {
			t.Errorf("unknown resource: %+v", m)
		}
		assert.Contains(t, string(c.result("resources/templates/list", "")), `"uriTemplate":"demo://note/{id}"`)
	})
}

func TestPromptsAndCompletion(t *testing.T) {
	bothEras(t, func(t *testing.T, c *client) {
		assert.Contains(t, string(c.result("prompts/get", `{"name":"greet","arguments":{"name":"Ada","language":"go"}}`)), "greet Ada warmly", "in go.")
		if r := string(c.result("prompts/get", `{"name":"review","arguments":{"language":"go","code":"x"}}`)); strings.Count(r, `"role"`) != 3 || !strings.Contains(r, `"type":"resource"`) {
			t.Error(r)
		}
		if m, _ := c.roundTrip("prompts/get", `{"name":"greet"}`); m.Error == nil {
			t.Error("greet without a name was answered")
		}
		for params, want := range map[string]string{
			`{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"a"}}`:             `["Ada","Alan"]`,
			`{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"ja"}}`:       `["java","javascript"]`,
			`{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"code","value":""}}`:             `[]`,
			`{"ref":{"type":"ref/resource","uri":"demo://note/{id}"},"argument":{"name":"id","value":"to"}}`:  `["today","tomorrow"]`,
			`{"ref":{"type":"ref/resource","uri":"demo://other/{id}"},"argument":{"name":"id","value":"to"}}`: `[]`,
		} {
			var r struct {
				Completion struct{ Values json.RawMessage }
			}
			if err := json.Unmarshal(c.result("completion/complete", params), &r); err != nil || string(r.Completion.Values) != want {
				t.Errorf("%s: %s, want %s", params, r.Completion.Values, want)
			}
		}
		if m, _ := c.roundTrip("completion/complete", `{"ref":{"type":"ref/prompt","name":"other"},"argument":{"name":"a","value":""}}`); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, "'other' not found") {
			t.Errorf("completion for an unknown prompt: %+v", m.Error)
		}
		for _, params := range []string{`{}`, `{"ref":7}`} {
			if m, _ := c.roundTrip("completion/complete", params); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, "completion/complete needs ref") {
				t.Errorf("%s: %+v", params, m)
			}
		}
	})
}

func TestLogLevels(t *testing.T) {
	_, cs := serve(t, Options{})
	levels := func(notes []message) (out []string) {
		for _, n := range notes {
			var p struct{ Level string }
			_ = json.Unmarshal(n.Params, &p)
			out = append(out, p.Level)
		}
		return out
	}
	above := []string{"warning", "error", "critical", "alert", "emergency"}
	t.Run("legacy", func(t *testing.T) {
		cs["legacy"].result("logging/setLevel", `{"level":"warning"}`)
		if _, notes := cs["legacy"].roundTrip("tools/call", `{"name":"log"}`); !slices.Equal(levels(notes), above) {
			t.Error(levels(notes))
		}
	})
	t.Run("modern", func(t *testing.T) {
		if _, notes := cs["modern"].roundTrip("tools/call", `{"name":"log"}`); len(notes) != 0 {
			t.Errorf("logs nobody asked for: %v", levels(notes))
		}
		if _, notes := cs["modern"].roundTrip("tools/call", `{"name":"log","_meta":{"io.modelcontextprotocol/logLevel":"warning"}}`); !slices.Equal(levels(notes), above) {
			t.Error(levels(notes))
		}
	})
}

func TestPages(t *testing.T) {
	_, cs := serve(t, Options{PageSize: 3})
	for era, c := range cs {
		var names []string
		pages := 0
		params := "{}"
		for {
			var l struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
			require.NoError(t, json.Unmarshal(c.result("tools/list", params), &l))
			for _, x := range l.Tools {
				names = append(names, x.Name)
			}
			pages++
			if l.NextCursor == "" {
				break
			}
			params = fmt.Sprintf(`{"cursor":%q}`, l.NextCursor)
		}
		if pages < 3 || pages > len(names)/3+1 || !slices.IsSorted(names) || len(slices.Compact(names)) != len(names) {
			t.Errorf("%s: %d pages of %v", era, pages, names)
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	_, cs := serve(t, Options{})
	c := cs["legacy"]
	req, _ := http.NewRequest(http.MethodDelete, c.url, nil)
	req.Header.Set("Mcp-Session-Id", c.session)
	res, err := c.hc.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	res = c.do(context.Background(), "ping", "")
	_ = res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("after DELETE: %s", res.Status)
	}
}

func TestStdio(t *testing.T) {
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	done := make(chan error, 1)
	a, err := New(Options{})
	require.NoError(t, err)
	defer a.Close(context.Background())
	go func() {
		done <- a.ServeStdio(context.Background(), in, out)
		_ = out.Close()
	}()
	dec := json.NewDecoder(fromAgent)
	ask := func(frame string) (m message) {
		if _, err := io.WriteString(toAgent, frame+"\n"); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, dec.Decode(&m))
		return m
	}
	if m := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`); m.Error != nil {
		t.Fatalf("%+v", m)
	}
	if m := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`); !strings.Contains(string(m.Result), `"text":"hi"`) {
		t.Errorf("%s", m.Result)
	}
	_ = toAgent.Close()
	assert.NoError(t, <-done)
}
