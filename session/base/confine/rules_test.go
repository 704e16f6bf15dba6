package confine_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestWords(t *testing.T) {
	var r confine.Rules
	for _, w := range []string{"true", "read=/a=b", "write=/c", "network"} {
		require.NoError(t, r.Add(w))
	}
	if want := (confine.Rules{Read: []string{"/a=b"}, Write: []string{"/c"}, Network: true}); !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
	assert.Equal(t, strings.Join(r.Words(), " "), "read=/a=b write=/c network")
	if got := (&confine.Rules{}).Words(); len(got) != 1 || got[0] != "true" {
		t.Error(got)
	}
	for _, w := range []string{"off", "false", "read", "read=", "hosts=example.com", "network=443"} {
		if err := r.Add(w); err == nil || !strings.Contains(err.Error(), "write network, read=PATH or write=PATH") {
			t.Errorf("%s: %v", w, err)
		}
	}
}

// Where the system cannot shut a process in, it says why, and starts nothing.
func TestX5b_RefusedElsewhere(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("see TestX5b_RefusedWithoutLandlock")
	}
	_, _, err := confine.Prepare(confine.Rules{}, confine.Program{Path: "/bin/true"})
	var e *confine.UnsupportedError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), runtime.GOOS) {
		t.Fatal(err)
	}
}
