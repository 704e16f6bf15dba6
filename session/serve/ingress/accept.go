package ingress

import (
	"net/http"
	"strings"
)

// Accepts reads Accept: whether the answer may be an event stream, and whether it may be JSON. A client that sends no
// Accept gets JSON.
func Accepts(header http.Header) (sse, json bool) {
	values := header.Values("Accept")
	if len(values) == 0 {
		return false, true
	}
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			kind, params, _ := strings.Cut(part, ";")
			if p := strings.ReplaceAll(params, " ", ""); p == "q=0" || p == "q=0.0" {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*":
				sse, json = true, true
			case TypeSSE, "text/*":
				sse = true
			case TypeJSON, "application/*":
				json = true
			}
		}
	}
	return sse, json
}
