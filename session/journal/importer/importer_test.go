package importer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/journal/importer"
)

// A file that --journal writes opens as what it was written from, and a line that is none is counted.
func TestOwnFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	j := journal.New(journal.Options{File: name})
	j.Append(journal.Entry{Server: "s", Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: "1"},
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
	j.Append(journal.Entry{Server: "s", Dir: journal.In, Kind: journal.Response, ID: "1"}, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	j.Append(journal.Entry{Server: "s", Dir: journal.In, Kind: journal.Stderr}, []byte("a line"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("{\"seq\":4,\"kin")
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := importer.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if err := got.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := got.Len(); n != 3 {
		t.Fatalf("%d entries", n)
	}
	e, _ := got.Get(2)
	if e.Peer != 1 || e.Tool != "echo" || e.Method != "tools/call" || e.Status != journal.OK {
		t.Errorf("%+v", e)
	}
	if body, err := got.Body(3); string(body) != "a line" {
		t.Errorf("%s, %v", body, err)
	}
	p := got.Progress()
	if p.Bad != 1 || p.First == nil || !strings.Contains(p.First.Error(), "s.jsonl:4: ") || !p.Done || p.Read != p.Total {
		t.Errorf("%+v", p)
	}
}
