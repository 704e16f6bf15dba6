package kb

import (
	"net/url"
	"strconv"
	"strings"
)

// host is the authority of all URIs of the knowledge base.
const host = "kb"

// sourceURI is where the passage that starts at a line of a file can be read; line 0 is the whole file.
func sourceURI(path string, line int) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	uri := "resource://" + host + "/" + strings.Join(parts, "/")
	if line > 0 {
		uri += "?line=" + strconv.Itoa(line)
	}
	return uri
}
