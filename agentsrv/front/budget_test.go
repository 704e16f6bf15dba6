package front

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// burst makes n calls of echo on clients connections.
func burst(t testing.TB, url string, header http.Header, clients, n int) {
	t.Helper()
	res, err := budget.RunLoad(t.Context(), budget.EqualLoad(url, header, call("1", "echo", `{"message":"hello"}`), "hello", clients, n))
	if err == nil {
		err = res.Err()
	}
	require.NoError(t, err)
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryIsFlat(t *testing.T) { memoryIsFlat(t, 6400) }

func TestNoNotificationIsLost(t *testing.T) { noNotificationIsLost(t, 320) }

// TestBudgetLongRun is the two above with 200,000 and 10,000 calls.
func TestBudgetLongRun(t *testing.T) {
	budget.Skip(t)
	memoryIsFlat(t, 200_000)
	noNotificationIsLost(t, 10_000)
}

// memoryIsFlat: what n calls leave behind is what few leave behind.
func memoryIsFlat(t *testing.T, n int) {
	t.Helper()
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	h := http.Header{s[0]: {s[1]}}
	burst(t, "http://"+f.host()+Path, h, 16, 3200)
	first := heapNow()
	burst(t, "http://"+f.host()+Path, h, 16, n)
	if last := heapNow(); last > first+(2<<20) {
		t.Errorf("%d KiB before, %d KiB after %d calls", first>>10, last>>10, n)
	}
}

// noNotificationIsLost: n calls that send 20 notifications each.
func noNotificationIsLost(t *testing.T, n int) {
	t.Helper()
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for i := range n / 16 {
				var g got
				if c%2 == 0 {
					g = f.post(t, call("1", "notify", "{}"), s...)
				} else {
					body, h := modern("1", "tools/call", `"name":"notify"`, "notify")
					g = f.post(t, body, h...)
				}
				last := -1
				for k := range 20 {
					at := strings.Index(g.body, fmt.Sprintf(`"progress":%d,`, k))
					if at <= last {
						t.Errorf("call %d of client %d lost or mixed up notification %d: %+v", i, c, k, g)
						return
					}
					last = at
				}
				if strings.LastIndex(g.body, `"result"`) < last {
					t.Errorf("the result of call %d of client %d is not the last", i, c)
					return
				}
			}
		})
	}
	wg.Wait()
}
