package redact_test

import (
	"fmt"

	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// A recording that is passed on loses what the rules name; the same value becomes the same word everywhere, so that one still sees what belongs
// together.
func Example() {
	r, err := redact.New(redact.Rules{Keys: []string{"email"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, body := journal.Entry{Server: "demo"}, []byte(`{"email":"ada@example.com","text":"sent to ada@example.com"}`)
	r.Learn(e, body)
	_, body = r.Change(e, body)
	fmt.Println(string(body))
	for _, t := range r.Report() {
		fmt.Println(t.Rule, t.N)
	}
	// Output:
	// {"email":"[email-1]","text":"sent to [email-1]"}
	// values of the rules above, found elsewhere 1
	// key email 1
}
