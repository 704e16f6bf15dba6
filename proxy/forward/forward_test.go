package forward

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestRestorerFindsItsAliasWhereverReadsEnd(t *testing.T) {
	const alias, id = `"mcphud-0123"`, `9007199254740993`
	for _, text := range []string{"", "x", alias, "a" + alias, alias + "b", `{"id":` + alias + `}`, `"mcphud-01"mcphud-0123"`, alias + alias, `"mcphud-012`, strings.Repeat("x", 10_000) + alias + strings.Repeat("y", 10_000), strings.Repeat(alias, 5_000)} {
		want := strings.ReplaceAll(text, alias, id)
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text)),
			"with the end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := io.ReadAll(&restorer{r: r, alias: []byte(alias), id: []byte(id)})
			if err != nil || string(got) != want {
				t.Errorf("%s: %.60q, %v; want %.60q", name, got, err, want)
			}
		}
	}
	// What cannot be the beginning of an alias is not held back.
	in, out := io.Pipe()
	r := &restorer{r: in, alias: []byte(alias), id: []byte(id)}
	go func() { _, _ = out.Write([]byte("data: x\n\n")) }()
	buf := make([]byte, 100)
	if n, err := r.Read(buf); err != nil || string(buf[:n]) != "data: x\n\n" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	_ = out.Close()
}

func TestRenameChangesTheNameOnly(t *testing.T) {
	for in, want := range map[string]string{
		` {"id":1, "result" : {"serverInfo":{"version":"1","name" : "a\"b"} } }`:   ` {"id":1, "result" : {"serverInfo":{"version":"1","name" : "new"} } }`,
		`{"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}}`: `{"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"}}}}`,
		`{"serverInfo":{"name":"x"},"result":{"name":"x"}}`:                        `{"serverInfo":{"name":"x"},"result":{"name":"x"}}`,
		`{"result":{"serverInfo":{"name":7}}}`:                                     `{"result":{"serverInfo":{"name":7}}}`,
		`{"result":{"serverInfo":[]}}`:                                             `{"result":{"serverInfo":[]}}`,
		`{"result":`:                                                               `{"result":`,
	} {
		if got := rename([]byte(in), "new"); string(got) != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func FuzzRename(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := rename(bytes.Clone(body), "new")
		if (jsonrpc.Valid(body) == nil) != (jsonrpc.Valid(got) == nil) {
			t.Errorf("%q became %q", body, got)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {\"a\":\ndata:1}\n\nrest"), []byte("{}"))
	f.Add([]byte("data\r\n\r\n"), []byte("x\ny"))
	f.Fuzz(func(t *testing.T, stream, data []byte) {
		end := new(blankLine).end(stream)
		var line blankLine
		for i := range stream { // the same in pieces
			if got := line.end(stream[:i+1]); got >= 0 {
				if got != end && !bytes.Equal(stream[got:end], []byte("\n")) {
					t.Fatalf("%q ends at %d in one piece and at %d in many", stream, end, got)
				}
				break
			}
		}
		if end < 0 || bytes.ContainsRune(data, '\r') {
			return
		}
		event := stream[:end]
		if _, ok := eventData(event); !ok {
			return
		}
		got, ok := eventData(withData(event, data))
		if !ok || !bytes.Equal(got, data) {
			t.Errorf("%q with %q gives %q", event, data, got)
		}
	})
}
