package conform

import (
	"errors"
	"path"
	"strings"

	"github.com/mcphud/mcphud/session/config"
)

// outdated are the rules about HTTP+SSE, the transport of 2024-11-05.
var outdated = []trial{
	{"http-sse-only", shared, tryOnlySSE},
}

// tryOnlySSE asks the server to begin over Streamable HTTP: at its URL, as the specification has clients try it, and where servers have it
// beside the old one.
func tryOnlySSE(p *probe) error {
	var tried []string
	for _, beside := range []string{"", "mcp"} {
		post, err := newPoster(p.cfg, p.sub.Session.Authorizer())
		if err != nil {
			return err
		}
		if beside != "" {
			post.url.Path, post.url.RawPath = path.Join("/", path.Dir(post.url.Path), beside), ""
		}
		t := &target{sub: p.sub, cfg: p.cfg, kind: config.HTTP, timeout: p.timeout, leave: p.leave, log: newLog(), http: post}
		c := t.connection(rev2511)
		c.unchecked.Store(true) // whoever has only the old transport answers as it likes
		a, err := c.initialize(p.ctx, rev2511)
		p.record("POST "+post.url.String()+" initialize", a, err)
		c.close()
		t.close()
		if err == nil && a.result() != nil {
			return nil
		}
		var silent *silence
		if errors.As(err, &silent) {
			return err
		}
		what := post.url.Path + ": "
		if err != nil {
			what += err.Error()
		} else {
			what += a.summary()
		}
		tried = append(tried, what)
	}
	return newViolation("initialize by POST is not served: %s", strings.Join(tried, "; "))
}
