package kb

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, o Options) *KB {
	t.Helper()
	k, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func find(t *testing.T, k *KB, query string, o SearchOptions) []Hit {
	t.Helper()
	hits, err := k.Search(t.Context(), "default", query, o)
	if err != nil {
		t.Fatalf("%.60q: %v", query, err)
	}
	return hits
}
