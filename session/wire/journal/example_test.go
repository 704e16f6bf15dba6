package journal_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// Frames are kept as they were on the wire; a response is linked with its request.
func Example() {
	j := journal.New(journal.Options{})
	defer j.Close()
	j.Append(journal.Entry{Server: "demo", Dir: journal.Out, Kind: journal.Request, Method: "tools/call", ID: "1"},
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
	seq := j.Append(journal.Entry{Server: "demo", Dir: journal.In, Kind: journal.Response, ID: "1"},
		[]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))

	for _, e := range j.Snapshot(0, nil) {
		fmt.Println(e.Seq, e.Dir, e.Kind, e.Method, e.Tool, e.Size, e.Status)
	}
	e, _ := j.Get(seq)
	body, err := j.Body(e.Seq)
	fmt.Println(e.Peer, string(body), err)
	// Output:
	// 1 out request tools/call echo 71 ok
	// 2 in response tools/call echo 48 ok
	// 1 {"jsonrpc":"2.0","id":1,"result":{"content":[]}} <nil>
}
