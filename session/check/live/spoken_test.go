package live

import (
	"testing"

	"github.com/mcphud/mcphud/session/check/rules"
)

// What a server says before it has answered in the era that a client asked for is not held to that era: it may be of the other one.
func TestOnlyTheRevisionThatIsSpoken(t *testing.T) {
	const probe = "> {'id':1,'method':'server/discover','params':{META}}\n"
	const log = "< {'method':'notifications/message','params':{'level':'info','data':1}}\n"
	const refusal = "< {'id':1,'error':{'code':-32601,'message':'Method not found'}}\n"
	const newer = "< {'method':'notifications/tools/list_changed'}\n"
	for name, c := range map[string]struct {
		script string
		found  bool
	}{
		"a log message before the refusal":       {probe + log + refusal + "@ hello 2025-11-25 {'logging':{}}\n", false},
		"a log message after it":                 {probe + refusal + log, false},
		"a change of the list before it":         {probe + newer + refusal, false},
		"a request of the server before it":      {probe + "< {'id':9,'method':'roots/list'}\n" + refusal, false},
		"an answer that nobody asked for":        {probe + "< {'id':'x','result':{}}\n" + refusal, false},
		"a log message where that era is spoken": {"@ discover {'logging':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a',META}}\n" + log, true},
	} {
		modern := false
		for _, f := range check(t, c.script) {
			modern = modern || f.By == rules.Server && f.Revision == revModern
		}
		if modern != c.found {
			t.Errorf("%s: found %v, want %v: %+v", name, modern, c.found, check(t, c.script))
		}
	}
}

// No capability says that a server has templates: one that lists resources may not know the method.
func TestTemplatesNeedNoList(t *testing.T) {
	const hello = "@ hello 2025-06-18 {'resources':{}}\n"
	const refusal = "< {'id':1,'error':{'code':-32601,'message':'x'}}"
	for method, want := range map[string]int{"resources/templates/list": 0, "resources/list": 1} {
		n := 0
		for _, f := range check(t, hello+"> {'id':1,'method':'"+method+"'}\n"+refusal) {
			if f.Rule.ID == "capability-empty" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d findings, want %d", method, n, want)
		}
	}
}
