package agentsrv

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Replicas whose clocks are off share a queue all the same: nothing that one says to another, or puts into the stream, has a time of day,
// so that order, deadlines and what counts as gone are each machine's own, or the server's.
func TestReplicasTellEachOtherNoTimes(t *testing.T) {
	url := natstest.Run(t).URL
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	var mu sync.Mutex
	kinds := map[string]int{}
	_, err = nc.Subscribe("mcphud.>", func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		kind := strings.Split(m.Subject, ".")[1]
		kinds[kind]++
		data := m.Data
		if len(data) > 0 && kind != "queue" && kind != "alive" { // the first byte is what it is about
			data = data[1:]
		}
		for _, at := range times(data) {
			t.Errorf("%s has the time %s: %s", m.Subject, at, m.Data)
		}
	})
	if err != nil || nc.Flush() != nil {
		t.Fatal(err)
	}
	_, first := serve(t, Options{Queue: natsconn.Options{URL: url}})
	_, second := serve(t, Options{Queue: natsconn.Options{URL: url}})
	a, b := first["legacy"], second["legacy"]
	var task struct{ Task struct{ TaskID string } }
	require.NoError(t, json.Unmarshal(a.result("tools/call", `{"name":"sleep","arguments":{"seconds":50},"task":{"ttl":60000}}`), &task))
	var all sync.WaitGroup // one of both agents is busy, and the other one runs these
	for i := range 6 {
		c := []*client{a, b}[i%2]
		all.Go(func() {
			c.result("tools/call", fmt.Sprintf(`{"name":"sleep","arguments":{"seconds":0.01},"_meta":{"progressToken":%d}}`, i))
		})
	}
	all.Wait()
	b.result("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, task.Task.TaskID))
	until(t, "all kinds of messages were heard", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return kinds["queue"] >= 7 && kinds["to"] >= 3 && kinds["alive"] >= 2 && kinds["run"] >= 1
	})
	mu.Lock()
	defer mu.Unlock()
	t.Log(kinds)
}

// times are the times of day in a JSON text, and in what is in its strings.
func times(text []byte) (all []string) {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, one := range v {
				look(one)
			}
		case []any:
			for _, one := range v {
				look(one)
			}
		case float64:
			now := time.Now()
			for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
				if d := v/unit - float64(now.Unix()); d > -1e8 && d < 1e8 { // three years
					all = append(all, fmt.Sprint(v))
				}
			}
		case string:
			if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
				all = append(all, v)
			}
			if raw, err := base64.StdEncoding.DecodeString(v); err == nil {
				all = append(all, times(raw)...)
			}
			if strings.HasPrefix(v, "{") {
				all = append(all, times([]byte(v))...)
			}
		}
	}
	look(v)
	return all
}

func TestTimesAreFound(t *testing.T) {
	now := time.Now()
	inner := fmt.Sprintf(`{"at":%d}`, now.UnixMilli())
	for _, text := range []string{
		inner, fmt.Sprint(now.Unix()), fmt.Sprintf(`[{"x":[%d]}]`, now.UnixNano()), `{"a":"` + now.Format(time.RFC3339) + `"}`,
		`{"p":"` + base64.StdEncoding.EncodeToString([]byte(inner)) + `"}`,
	} {
		if len(times([]byte(text))) != 1 {
			t.Errorf("%s: %v", text, times([]byte(text)))
		}
	}
	if got := times([]byte(`{"timeout":30000,"id":"2026","payload":"eyJhIjoxfQ==","n":123456789012}`)); got != nil {
		t.Error(got)
	}
}
