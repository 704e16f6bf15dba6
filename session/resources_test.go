package session_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// Resources and templates come as they were sent, members that nobody knows among them; what is understood is beside it.
func TestD2_ResourcesAndTemplatesVerbatim(t *testing.T) {
	const (
		resource = `{"uri":"db://t/1","name":"one","size":9007199254740993,"mimeType":"text/x","x-own":{"b":1.0,"a":[]}, "annotations":{"priority":0.10}}`
		template = `{ "uriTemplate":"db://{t}/{id*}{?q}","name":"row","title":"Row","x-own":null}`
	)
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer()
		f.Results = map[string]string{
			"resources/list":           `{"resources":[` + resource + `],"x":1}`,
			"resources/templates/list": `{"resourceTemplates":[` + template + `]}`,
		}
		m := sessiontest.Fleet(t, map[string]*sessiontest.Server{"a": f}, "a")
		defer sessiontest.CloseAll(t, m)
		s, _ := m.Server("a")
		require.NoError(t, s.Connect(t.Context()))
		for kind, want := range map[offer.Kind]string{offer.Resources: resource, offer.Templates: template} {
			l, err := s.List(t.Context(), kind)
			if err != nil || len(l.Items) != 1 {
				t.Fatalf("%v: %+v, %v", kind, l, err)
			}
			if it := l.Items[0]; string(it.Raw) != want || it.Flaw != nil {
				t.Errorf("%v: %s, flaw %v; want %s", kind, it.Raw, it.Flaw, want)
			}
			if !bytes.Equal(l.JSON(), []byte(f.Results[kind.Method()])) {
				t.Errorf("%v: the list is %s", kind, l.JSON())
			}
		}
		r, _ := s.List(t.Context(), offer.Resources)
		if it := r.Items[0]; it.URI != "db://t/1" || it.Name != "one" || it.MIME != "text/x" || string(it.Annotations) != `{"priority":0.10}` {
			t.Errorf("understood as %+v", it)
		}
		p, _ := s.List(t.Context(), offer.Templates)
		if it := p.Items[0]; it.URI != "db://{t}/{id*}{?q}" || it.Title != "Row" {
			t.Errorf("understood as %+v", it)
		}
	})
}
