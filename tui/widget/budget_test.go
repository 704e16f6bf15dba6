package widget

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// perKey is what one of the keys costs, the rows that it makes visible included.
func perKey(key func(string) bool, lines func() []string, keys ...string) time.Duration {
	const rounds = 50
	return budget.Time(func() {
		for range rounds {
			for _, k := range keys {
				key(k)
				lines()
			}
		}
	}) / time.Duration(rounds*len(keys))
}

func TestBudgetListKey(t *testing.T) {
	budget.Skip(t)
	l := newList(1_000_000, 200, 60)
	budget.Ceiling(t, "key in a list of 1,000,000 rows", budget.Best(func() time.Duration {
		return perKey(l.Key, l.Lines, "down", "pgdown", "end", "ctrl+u", "home")
	}), time.Millisecond)
}

func TestBudgetFilter(t *testing.T) {
	budget.Skip(t)
	names, about := make([]string, 5000), strings.Repeat("some description of what it does ", 40)
	for i := range names {
		names[i] = fmt.Sprint("tool_", i)
	}
	budget.Ceiling(t, "filter keystroke in 5,000 tools (6.7 MB)", budget.Best(func() time.Duration {
		return budget.Time(func() {
			if _, err := ParseQuery("does not 12").Filter(context.Background(), len(names), func(i int) (string, string) { return names[i], about }); err != nil {
				t.Error(err)
			}
		})
	}), 10*time.Millisecond)
}

func TestBudgetPager(t *testing.T) {
	budget.Skip(t)
	data := manyLines(100_000)
	p := newPager("", 200, 60, true)
	p.SetTheme(testTheme(colorprofile.TrueColor))
	budget.Ceiling(t, "100,000 lines opened in the pager", budget.Best(func() time.Duration {
		return budget.Time(func() {
			p.SetText(data, PaintJSON)
			p.Lines()
		})
	}), 150*time.Millisecond)
	budget.Ceiling(t, "100,000 lines scrolled one page", budget.Best(func() time.Duration {
		return perKey(p.Key, p.Lines, "pgdown", "pgdown", "pgup", "end", "home")
	}), 2*time.Millisecond)
}

func TestBudgetTree(t *testing.T) {
	budget.Skip(t)
	data := bigJSON(50 << 20)
	ix, err := NewIndex(context.Background(), data)
	require.NoError(t, err)
	j := newTree(ix, 200, 60)
	j.SetTheme(testTheme(colorprofile.TrueColor))
	budget.Ceiling(t, "key in a JSON tree of 50 MB", budget.Best(func() time.Duration {
		return perKey(j.Key, j.Lines, "right", "down", "pgdown", "end", "up", "right", "left", "home")
	}), 2*time.Millisecond)
	budget.Ceiling(t, "everything in a JSON tree of 50 MB unfolded, then a key", budget.Best(func() time.Duration {
		j.FoldTo(1 << 30)
		return perKey(j.Key, j.Lines, "left", "right", "pgdown", "end", "home")
	}), 2*time.Millisecond)
}

// held is the memory that remains in use after make, which returns what holds it.
func held(make func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func TestBudgetMemory(t *testing.T) {
	budget.Push(t)
	const size = 50 << 20
	for _, tt := range []struct {
		what string
		data func() []byte
	}{
		{"objects", func() []byte { return bigJSON(size) }},
		{"numbers", func() []byte { return []byte("[" + strings.Repeat("0.12345,", size/8) + "0]") }},
		{"nothing but brackets", func() []byte { return []byte("[" + strings.Repeat("[],", size/3) + "[]]") }},
		{"line feeds", func() []byte { return bytes.Repeat([]byte("\n"), size) }},
	} {
		got := held(func() any {
			data := tt.data()
			p := newPager("", 200, 60, true)
			p.SetText(data, PaintJSON)
			p.Lines()
			ix, err := NewIndex(context.Background(), data)
			require.NoError(t, err)
			j := newTree(ix, 200, 60)
			j.Lines()
			return []any{p, j}
		})
		budget.Size(t, "50 MB of "+tt.what+" in pager and tree, once shown", got, size, 2)
	}
}

func TestBudgetTable(t *testing.T) {
	budget.Skip(t)
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range 100_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"issue %d","state":"open","labels":["bug","ui"],"author":{"name":"ada"},"body":%q}`, i, i, strings.Repeat("text ", 40))
	}
	b.WriteByte(']')
	ix, err := NewIndex(context.Background(), b.Bytes())
	require.NoError(t, err)
	var data *TableData
	budget.Ceiling(t, "columns of 100,000 objects found", budget.Best(func() time.Duration {
		return budget.Time(func() { data, err = NewTableData(context.Background(), ix, 0) })
	}), 300*time.Millisecond)
	require.NoError(t, err)
	var j JSONTable
	j.SetTheme(testTheme(colorprofile.TrueColor))
	j.SetSize(200, 60)
	j.SetData(data)
	budget.Ceiling(t, "key in a table of 100,000 objects", budget.Best(func() time.Duration {
		return perKey(j.Key, j.Lines, "down", "pgdown", "right", "end", "up", "left", "home")
	}), 2*time.Millisecond)
}

func TestBudgetSections(t *testing.T) {
	budget.Skip(t)
	data := manyLines(1000)
	list := make([]Section, 10_000) // some 60 MB
	for i := range list {
		list[i] = Section{Head: []string{"── rule ──"}, Text: NewLines(data)}
	}
	p := newPager("", 200, 60, true)
	p.SetTheme(testTheme(colorprofile.TrueColor))
	p.SetSections(list)
	budget.Ceiling(t, "10,000 texts below each other scrolled one page", budget.Best(func() time.Duration {
		return perKey(p.Key, p.Lines, "pgdown", "pgdown", "pgup", "end", "home")
	}), 2*time.Millisecond)
}

// Ten times the size takes ten times as long, and a key no longer.
func TestBudgetPushSizes(t *testing.T) {
	budget.Push(t)
	about := strings.Repeat("some description of what it does ", 40)
	filter := func(size, times int) func() time.Duration {
		names := make([]string, size)
		for i := range names {
			names[i] = fmt.Sprint("tool_", i)
		}
		return func() time.Duration {
			return budget.Time(func() {
				for range times {
					if _, err := ParseQuery("does not 12").Filter(context.Background(), size, func(i int) (string, string) { return names[i], about }); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	best := budget.Alternate(filter(500, 10), filter(5000, 1))
	budget.Ratio(t, "5,000 tools (6.7 MB) filtered, against ten times 500", best[1], best[0], 1.5)
	open := func(size, times int) func() time.Duration {
		data, p := manyLines(size), newPager("", 200, 60, true)
		p.SetTheme(testTheme(colorprofile.TrueColor))
		return func() time.Duration {
			return budget.Time(func() {
				for range times {
					p.SetText(data, PaintJSON)
					p.Lines()
				}
			})
		}
	}
	best = budget.Alternate(open(10_000, 10), open(100_000, 1))
	budget.Ratio(t, "100,000 lines opened in the pager, against ten times 10,000", best[1], best[0], 1)
	key := func(size int) func() time.Duration {
		ix, err := NewIndex(context.Background(), bigJSON(size))
		require.NoError(t, err)
		j := newTree(ix, 200, 60)
		j.SetTheme(testTheme(colorprofile.TrueColor))
		return func() time.Duration {
			return perKey(j.Key, j.Lines, "right", "down", "pgdown", "end", "up", "right", "left", "home")
		}
	}
	best = budget.Alternate(key(5<<20), key(50<<20))
	budget.Ratio(t, "key in a JSON tree of 50 MB, against 5 MB", best[1], best[0], 1.5)
}
