package filter_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A filter is what is typed behind / in Traffic, and behind --filter.
func ExampleParse() {
	j := journal.New(journal.Options{})
	defer j.Close()
	for _, tool := range []string{"echo", "add"} {
		j.Append(journal.Entry{Server: "demo", Dir: journal.Out, Kind: journal.Request, Method: "tools/call"},
			[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`"}}`))
	}
	f, err := filter.Parse("dir:out -tool:echo")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range j.Snapshot(0, nil) {
		fmt.Println(e.Tool, f.Match(j, &e))
	}
	_, err = filter.Parse("dir:sideways")
	fmt.Println(err)
	// Output:
	// echo false
	// add true
	// column 5: unknown direction: sideways; expected in or out
}
