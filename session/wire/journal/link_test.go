package journal

import "testing"

func TestAToolsOwnErrorIsNoSuccess(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`:                      Failed,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}`:                     OK,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"isError\""}]}}`: OK,
		`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"isError":true}}}`:             OK,
	} {
		j := newTest(t, Options{})
		e, b := request("1", "tools/call")
		q := j.Append(e, b)
		r := j.Append(Entry{Server: "s", Conn: 1, Dir: In, Kind: Response, ID: "1"}, []byte(body))
		if got := get(t, j, r); got.Status != want || want == Failed && got.Note != "isError" {
			t.Errorf("%s: the answer has status %q and note %q, want %q", body, got.Status, got.Note, want)
		}
		if got := get(t, j, q); got.Status != want {
			t.Errorf("%s: the request has status %q, want %q", body, got.Status, want)
		}
	}
}
