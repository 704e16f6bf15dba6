package rpc

import "testing"

// TestMetaGivenTwice: what is added agrees with what is there, whichever _meta the server reads.
func TestMetaGivenTwice(t *testing.T) {
	r := &Request{Params: []byte(`{"_meta":{"progressToken":"x","v":1},"_meta":{}}`), WantsProgress: true}
	r.SetMeta("v", []byte("2"))
	r.SetMeta("w", []byte("3"))
	want := `{"_meta":{"progressToken":"x","v":1,"w":3},"_meta":{"v":1,"w":3,"progressToken":"x"}}`
	params, token, err := r.complete([]byte("7"))
	if string(params) != want || token != `"x"` || err != nil {
		t.Errorf("%s, %s, %v; want %s", params, token, err, want)
	}
	r = &Request{WantsProgress: true, Meta: []Member{{"progressToken", []byte(`"y"`)}, {"progressToken", []byte(`"z"`)}}}
	if params, token, err := r.complete([]byte("7")); string(params) != `{"_meta":{"progressToken":"y"}}` || token != `"y"` || err != nil {
		t.Errorf("%s, %s, %v", params, token, err)
	}
}
