package inspector

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
)

// Twelve who add a server to one file at once all find it there.
func TestWritersAtOnce(t *testing.T) {
	l := newList(t, `{"mcpServers": {}}`)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := l.run("servers/add", "--server", fmt.Sprintf("s%02d", i), "--", "run"); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	wg.Wait()
	b, err := os.ReadFile(l.file)
	if n := strings.Count(string(b), `"run"`); err != nil || n != 12 {
		t.Errorf("%d of 12 are in the file: %s %v", n, b, err)
	}
}

// meddler is a store during whose writes another program changes the file.
type meddler struct {
	auth.Store
	auth.Locker
	change func()
}

func (m meddler) Put(ctx context.Context, c auth.Credentials) error {
	m.change()
	return m.Store.Put(ctx, c)
}

// What another program writes between reading and writing stays, and the change is made of it; where it never ends the file is left alone.
func TestAnotherProgramWrites(t *testing.T) {
	for _, c := range []struct {
		times int
		want  string // of the error
	}{{1, ""}, {1000, "changed while it was edited; it was left as it is"}} {
		l := newList(t, `{"mcpServers": {"a": {"command": "a"}}}`)
		n := 0
		l.kept.Store = meddler{l.kept.Store, l.kept.Store.(auth.Locker), func() {
			if n++; n <= c.times {
				l.write(fmt.Sprintf(`{"mcpServers": {"a": {"command": "a"}, "foreign": {"command": "f%d"}}}`, n))
			}
		}}
		err := l.run("servers/add", "--server", "b", "-e", "K=a-value-of-b", "--", "run")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d times: %v", c.times, err)
		}
		b, readErr := os.ReadFile(l.file)
		if readErr != nil || !strings.Contains(string(b), `"foreign"`) || strings.Contains(string(b), `"b"`) != (err == nil) {
			t.Errorf("%d times: %s %v", c.times, b, readErr)
		}
		l.holds("b", map[bool]map[string]string{true: {"K": "a-value-of-b"}, false: {}}[err == nil])
	}
}
