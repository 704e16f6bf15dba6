package tasks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestParse(t *testing.T) {
	legacy := `{"taskId":"a","status":"working","statusMessage":"busy","createdAt":"2026-11-22T10:00:00Z","lastUpdatedAt":"2026-11-22T10:00:05.5+01:00","ttl":60000,"pollInterval":2500}`
	is, err := Parse([]byte(legacy), false)
	if err != nil || is.ID != "a" || is.Status != Working || is.Message != "busy" || is.TTL != time.Minute || !is.HasTTL || is.Interval != 2500*time.Millisecond {
		t.Errorf("%+v, %v", is, err)
	}
	if is.Created.Unix() != 1795341600 || is.Updated.IsZero() || string(is.Raw) != legacy {
		t.Errorf("%+v", is)
	}
	if is, err = Parse([]byte(legacy), true); err != nil || is.HasTTL || is.Interval != 0 {
		t.Errorf("members of the other dialect were read: %+v, %v", is, err)
	}
	is, err = Parse([]byte(`{"taskId":"b","status":"completed","ttlMs":null,"pollIntervalMs":"soon","createdAt":7,"result":{"content":[`+strings.Repeat(`"x",`, 1<<18)+`"x"]}}`), true)
	if err != nil || is.HasTTL || is.Interval != 0 || !is.Created.IsZero() || len(is.Raw) > 200 {
		t.Errorf("%v, %v, %d bytes kept", is.HasTTL, err, len(is.Raw))
	}
	is, err = Parse([]byte(`{"taskId":"c","status":"working","pollInterval":1e300,"ttl":-5,"statusMessage":"`+strings.Repeat("é", 1<<16)+`"}`), false)
	if err != nil || is.HasTTL || is.Wait(1) != longest || len(is.Message) > 2*maxMessage || len(is.Raw) > maxRaw {
		t.Errorf("%+v, %v", is.Interval, err)
	}
	for _, bad := range []string{
		``, `7`, `[]`, `{"taskId":"a"`, `{}`, `{"taskId":7,"status":"working"}`, `{"taskId":"","status":"working"}`, `{"taskId":"a","status":"Working"}`, `{"taskId":"a"}`,
		`{"taskId":"` + strings.Repeat("a", maxID+1) + `","status":"working"}`, `{"taskId":"a","status":"unknown"}`,
	} {
		if _, err := Parse([]byte(bad), false); failure.KindOf(err) != failure.Protocol || len(err.Error()) > 600 {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}

func TestCreated(t *testing.T) {
	for _, c := range []struct {
		result string
		modern bool
		task   string
	}{
		{`{"resultType":"task","taskId":"a"}`, true, `{"resultType":"task","taskId":"a"}`},
		{`{"task":{"taskId":"a"}}`, false, `{"taskId":"a"}`},
		{`{"task":{"taskId":"a"}}`, true, ""},
		{`{"resultType":"task","taskId":"a"}`, false, ""},
		{`{"content":[],"task":{"taskId":"a"}}`, false, ""}, // a tool's own member
		{`{"content":[],"structuredContent":{"taskId":"a"}}`, true, ""},
		{`{"resultType":"complete","taskId":"a"}`, true, ""},
	} {
		assert.Equalf(t, string(Created([]byte(c.result), c.modern)), c.task, "%s", c.result)
	}
}

// TestWait: whatever the server wants, it is asked neither in a loop nor never again.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		interval time.Duration
		n        int
		want     time.Duration
	}{
		{time.Millisecond, 9, shortest},
		{7 * time.Second, 9, 7 * time.Second},
		{24 * time.Hour, 1, longest},
		{0, 1, first},
		{0, 2, 2 * first},
		{0, 99, last},
	} {
		assert.Equalf(t, (Task{Interval: c.interval}).Wait(c.n), c.want, "%v, %d", c.interval, c.n)
	}
}

func TestTable(t *testing.T) {
	var all Table
	now := time.Now()
	all.Put(Task{ID: "live", Tool: "x", Status: Working, Conn: 1, Request: 5, Token: "7"}, now)
	for i := range 3 * Limit {
		all.Put(Task{ID: fmt.Sprint(i), Status: Completed}, now)
	}
	if got := all.All(); len(got) != Limit || got[0].ID != fmt.Sprint(3*Limit-1) || got[Limit-1].ID != "live" {
		t.Errorf("%d tasks, from %s to %s", len(got), got[0].ID, got[len(got)-1].ID)
	}
	later := now.Add(time.Hour)
	if is, changed := all.Put(Task{ID: "live", Status: Completed}, later); !changed || is.Tool != "x" || is.Since != now || is.Seen != later || is.Token != "7" {
		t.Errorf("%+v", is)
	}
	if is, _ := all.Put(Task{ID: "live", Status: Working}, later); is.Status != Completed {
		t.Error("a task that was over runs again")
	}
	if id, ok := all.ByToken(1, "7"); !ok || id != "live" {
		t.Errorf("%q", id)
	}
	if _, ok := all.ByToken(2, "7"); ok {
		t.Error("a token of another connection counts")
	}
	for i := range 2 * Limit {
		all.Put(Task{ID: fmt.Sprint("w", i), Status: Working}, now)
	}
	assert.Equalf(t, len(all.All()), Limit, "tasks")
	if all.Forget("w399"); len(all.All()) != Limit-1 || all.Update("w399", func(*Task) {}) {
		t.Error("it is not forgotten")
	}
}
