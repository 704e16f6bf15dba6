package front

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/budget"
)

// burst makes n calls of echo on clients connections.
func burst(t testing.TB, addr, header string, clients, n int) {
	t.Helper()
	budget.Load{Addr: addr, Path: Path, Header: []string{header}, Body: call("1", "echo", `{"message":"hello"}`), Want: "hello", Clients: clients, Calls: n}.Run(t)
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryIsFlat: what many calls leave behind is what few leave behind. MCPHUD_BUDGET=1 makes it 200,000.
func TestMemoryIsFlat(t *testing.T) {
	n := 6400
	if os.Getenv(budget.EnableEnv) == "1" && !budget.Race() {
		n = 200_000
	}
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	h := s[0] + ": " + s[1]
	burst(t, f.host(), h, 16, 3200)
	first := heapNow()
	burst(t, f.host(), h, 16, n)
	if last := heapNow(); last > first+(2<<20) {
		t.Errorf("%d KiB before, %d KiB after %d calls", first>>10, last>>10, n)
	}
}

// TestNoNotificationIsLost: calls that send 20 notifications each. MCPHUD_BUDGET=1 makes them 10,000.
func TestNoNotificationIsLost(t *testing.T) {
	n := 320
	if os.Getenv(budget.EnableEnv) == "1" && !budget.Race() {
		n = 10_000
	}
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
