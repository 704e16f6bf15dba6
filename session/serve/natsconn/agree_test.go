package natsconn_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// All who ask at once have the same key, and so has who asks later; other names have others.
func TestAgree(t *testing.T) {
	s := natstest.Run(t)
	got := make(chan []byte)
	const n = 8
	for range n {
		c := open(t, natsconn.Options{URL: s.URL})
		go func() {
			keys, err := c.Agree(t.Context(), "mcphud_keys_x", "state")
			if err != nil {
				t.Error(err)
				keys = [][]byte{nil}
			}
			got <- keys[0]
		}()
	}
	first := <-got
	for range n - 1 {
		if key := <-got; len(key) != 32 || !bytes.Equal(key, first) {
			t.Errorf("%d bytes, which others do not have", len(key))
		}
	}
	c := open(t, natsconn.Options{URL: s.URL})
	for _, other := range [][2]string{{"mcphud_keys_x", "another"}, {"mcphud_keys_y", "state"}} {
		if keys, err := c.Agree(t.Context(), other[0], other[1]); err != nil || bytes.Equal(keys[0], first) {
			t.Errorf("%v: the same key, %v", other, err)
		}
	}
	kv, err := c.JetStream().KeyValue(t.Context(), "mcphud_keys_x")
	require.NoError(t, err)
	if _, err := kv.Put(t.Context(), "state", []byte(`{"v":2,"keys":["c2VjcmV0"]}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agree(t.Context(), "mcphud_keys_x", "state"); err == nil || !strings.Contains(err.Error(), "use the state key in the bucket mcphud_keys_x") || strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("a value of another version: %v", err)
	}
}
