package ingress

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestBodiesAreReadUpToTheLimit(t *testing.T) {
	const limit = 3*firstPiece + 5
	l := Limits{Body: limit, Time: time.Minute}
	for _, c := range []struct {
		size      int
		announced bool
		status    int // 0 where the body is read
	}{
		{0, true, 0},
		{1, true, 0},
		{firstPiece - 1, true, 0},
		{firstPiece, true, 0},
		{firstPiece + 1, false, 0},
		{limit, true, 0},
		{limit, false, 0},
		{limit + 1, true, http.StatusRequestEntityTooLarge},
		{limit + 1, false, http.StatusRequestEntityTooLarge},
	} {
		text := strings.Repeat("x", c.size)
		var body io.Reader = strings.NewReader(text)
		if !c.announced {
			body = io.MultiReader(body)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		got, err := l.Read(httptest.NewRecorder(), r)
		f, refused := jsonrpc.AsRequestError(err)
		switch {
		case refused && f.HTTPStatus(false) != c.status, refused != (c.status != 0), err != nil && !refused:
			t.Errorf("%+v: %v", c, err)
		case !refused && string(got) != text:
			t.Errorf("%+v: %d bytes came", c, len(got))
		case cap(got) > 2*c.size+firstPiece:
			t.Errorf("%+v: %d bytes are reserved", c, cap(got))
		}
	}
}

func TestSizesOfLimits(t *testing.T) {
	assert.Equal(t, Size(10<<20), "10485760 bytes (10.5 MB)")
}
