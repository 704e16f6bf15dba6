package safety

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/schema"
	"github.com/mcphud/mcphud/session/text"
)

// secrets looks for credentials.
func (x *examination) secrets(s str) {
	if masked := mask.Prose(s.text); masked != s.text && !placeholders(s.text, masked) {
		x.add("secret", check.Finding{Place: s.at, Sure: check.Likely, Message: "has what looks like a credential", Evidence: shown(masked)})
		return
	}
	if s.key == "default" && s.prop != "" && mask.Secret(s.prop) && len(s.text) >= 6 && !strings.ContainsAny(s.text, " /${<") && !made(s.text) {
		x.add("secret-default", check.Finding{Place: s.at, Sure: check.Possible, Message: "the default of " + text.Clip(s.prop, 60) + " is published with the schema", Evidence: mask.Hidden})
	}
}

// placeholders reports whether all that was masked was made up for readers.
func placeholders(s, masked string) bool {
	parts, ok := hiddenParts(s, masked)
	for _, part := range parts {
		ok = ok && made(part)
	}
	return ok
}

// hiddenParts are what stood where a masked text has mask.Hidden; false where that cannot be told.
func hiddenParts(s, masked string) (out []string, ok bool) {
	for part := range strings.SplitSeq(masked, mask.Hidden) {
		before, after, found := strings.Cut(s, part)
		if !found {
			return nil, false
		}
		if before != "" {
			out = append(out, before)
		}
		s = after
	}
	if s != "" { // the text ends with one
		out = append(out, s)
	}
	return out, true
}

// made reports whether a credential is made up: a word for one, or few different characters.
func made(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{
		"example", "your", "xxx", "...", "…", "<", "{", "placeholder", "dummy", "sample", "changeme", "token", "user:pass", "username", "password", "secret", "redacted", "***", "1234567890", "abcdef", "0000", "test", "foo", "bar",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	kinds := map[rune]bool{}
	for _, r := range low[strings.LastIndexAny(low, "_-")+1:] {
		kinds[r] = true
	}
	return len(kinds) <= 3
}

var links = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp)://[^\s"'<>()\[\]\x60]+|(?:^|[\s("'\[=])((?:javascript|vbscript):\S+|data:text/html[^\s"'<>)]*)`)
})

// urls looks for addresses that hide whose they are.
func (x *examination) urls(s str, visible string) {
	for _, m := range links().FindAllStringSubmatchIndex(visible, 20) {
		link := visible[m[0]:m[1]]
		if m[2] >= 0 {
			link = visible[m[2]:m[3]]
			f := check.Finding{Place: s.at, Key: text.Clip(link, 100), Sure: check.Likely, Message: "has " + shown(text.Clip(link, 100)), Evidence: shown(visible)}
			if s.key == "src" || s.key == "websiteUrl" || s.key == "uri" { // somebody opens it
				f.Sure = check.Certain
			}
			x.add("script-url", f)
			continue
		}
		u, err := url.Parse(strings.TrimRight(link, ".,;:"))
		if err != nil {
			continue
		}
		host := strings.ToLower(u.Hostname())
		why := ""
		addr, err := netip.ParseAddr(host)
		switch {
		case err == nil && !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsUnspecified() && !addr.IsLinkLocalUnicast():
			why = "a raw address"
		case strings.Contains(u.User.Username(), "."):
			why = "what looks like a host before the real one"
		case strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--"):
			why = "a punycode name"
		case slices.ContainsFunc([]rune(host), func(r rune) bool { return r >= 0x80 }):
			why = "a name that is not plain letters"
		case m[0] >= 2 && visible[m[0]-2:m[0]] == "](" && strings.Contains(visible[max(0, m[0]-200):m[0]], "![") && (u.RawQuery != "" || strings.Contains(link, "{")):
			why = "an image whose address carries data"
		}
		if why != "" {
			x.add("odd-url", check.Finding{Place: s.at, Key: host, Sure: check.Likely, Message: "has " + why + ": " + host, Evidence: shown(mask.Prose(visible))})
		}
	}
}

var (
	destroys = []string{"delete", "remove", "drop", "destroy", "purge", "truncate", "wipe", "erase", "kill", "terminate", "uninstall"}
	changes  = []string{"create", "write", "update", "edit", "insert", "move", "rename", "send", "publish", "upload", "deploy", "commit", "push", "merge", "install", "patch", "overwrite", "append"}
	reaches  = []string{"internet", "web page", "webpage", "website", "web search", "search the web", "external api", "http request", "any url"}
)

// hints compares annotations with what the name and the description begin with.
func (x *examination) hints(at check.Place, it offer.Item) {
	hint := func(name string) string { return string(jsonrpc.Get(it.Annotations, name)) }
	verb := firstWord(it.Name)
	said := firstWord(it.Description)
	does := func(verbs []string) (string, bool) {
		for _, v := range verbs {
			if verb == v {
				return "its name begins with " + v, true
			}
			if v == "send" || v == "push" { // to the client, as a rule
				continue
			}
			if said == v || said == v+"s" || said == strings.TrimSuffix(v, "e")+"es" {
				return "its description begins with " + said, true
			}
		}
		return "", false
	}
	contradicts := func(severity check.Severity, name, value, why string, sure check.Confidence) {
		x.r.At(severity, "safety/hint-contradicts", check.Finding{
			Place: with(at, "/annotations/"+name), Sure: sure, Message: name + " is " + value + ", and " + why, Evidence: shown(text.Clip(it.Name+": "+it.Description, 200)),
		})
	}
	if hint("readOnlyHint") == "true" {
		if why, ok := does(destroys); ok {
			contradicts(check.Error, "readOnlyHint", "true", why, check.Likely)
		} else if why, ok := does(changes); ok {
			contradicts(check.Warning, "readOnlyHint", "true", why, check.Likely)
		}
	} else if hint("destructiveHint") == "false" {
		if why, ok := does(destroys); ok {
			contradicts(check.Warning, "destructiveHint", "false", why, check.Likely)
		}
	}
	if hint("openWorldHint") == "false" {
		low := strings.ToLower(it.Description)
		for _, w := range reaches {
			if strings.Contains(low, w) {
				contradicts(check.Warning, "openWorldHint", "false", "its description speaks of "+w, check.Possible)
				break
			}
		}
	}
}

// firstWord is the first word of a name or text, in lower case.
func firstWord(s string) string {
	s = text.Cut(strings.TrimSpace(s), 200)
	for i, r := range s {
		if r >= 'A' && r <= 'Z' && i > 0 && s[i-1] >= 'a' && s[i-1] <= 'z' || !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return strings.ToLower(s[:i])
		}
	}
	return strings.ToLower(s)
}

var whole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:full|entire|complete|whole|verbatim)(?: \w+)? (?:conversation|chat history|chat log|system prompt|message history|context window)|\b(?:your|the) system prompt\b|\b(?:list of )?all (?:the )?(?:other )?tools (?:that are |you have )?(?:available|access)`)
})

// parameters looks for those that ask for what is not the tool's business.
func (x *examination) parameters(at check.Place, it offer.Item) {
	_ = jsonrpc.Members(jsonrpc.Get(it.InputSchema, "properties"), func(name string, prop []byte) bool { // anything else has none
		why := ""
		switch strings.ReplaceAll(skeletonWords(name), " ", "") {
		case "conversation", "conversationhistory", "chathistory", "messagehistory", "systemprompt", "fullcontext", "fullconversation", "previousmessages", "toolslist", "availabletools", "chainofthought",
			"usersystemprompt", "transcript", "promptcontext", "llmcontext", "modelcontext":
			why = "is called " + shown(text.Clip(name, 60))
		}
		if m := whole().FindString(jsonrpc.GetString(prop, "description")); m != "" && why == "" {
			why = "asks for " + shown(text.Clip(m, 80))
		}
		if why != "" {
			x.add("asks-for-context", check.Finding{
				Place: with(at, "/inputSchema/properties/"+schema.EscapeToken(name)), Sure: check.Likely, Message: why, Evidence: shown(jsonrpc.GetString(prop, "description")),
			})
		}
		return true
	})
}

// skeletonWords is a name in lower case without what separates its words.
func skeletonWords(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

var open = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:file:/{0,3}\{|\{[+#]?[^}]*\}|(?:https?|ftp)://\{|file:.*\{\+[^}]*\}|file:.*\{[^}]*\*\}|(?:https?|ftp)://[^/]*\{\+)`)
})

// template looks for templates that lead anywhere.
func (x *examination) template(at check.Place, uri string) {
	if open().MatchString(uri) {
		x.add("template-escapes", check.Finding{Place: with(at, "/uriTemplate"), Sure: check.Likely, Message: shown(text.Clip(uri, 100)) + " can be made any path or host"})
	}
}

// app looks at what the page of an app may do.
func (x *examination) app(at check.Place, it offer.Item) {
	ui := jsonrpc.Get(it.Raw, "_meta", "ui")
	if ui == nil {
		return
	}
	at.Pointer = "/_meta/ui"
	_ = jsonrpc.Members(jsonrpc.Get(ui, "csp"), func(key string, value []byte) bool {
		_ = jsonrpc.Elements(value, func(v []byte) bool {
			origin, _ := jsonrpc.String(v)
			host := origin[strings.Index(origin, "://")+1:]
			if origin == "*" || strings.HasPrefix(origin, "http://") && !strings.HasPrefix(origin, "http://localhost") && !strings.HasPrefix(origin, "http://127.0.0.1") || strings.Trim(host, "/*") == "" {
				x.add("app-reaches-out", check.Finding{Place: with(at, "/_meta/ui/csp/"+key), Key: origin, Message: key + " has " + shown(text.Clip(origin, 60))})
			}
			return true
		})
		return true
	})
	_ = jsonrpc.Members(jsonrpc.Get(ui, "permissions"), func(key string, _ []byte) bool {
		if slices.Contains([]string{"camera", "microphone", "geolocation"}, strings.ToLower(key)) {
			x.add("app-reaches-out", check.Finding{Place: with(at, "/_meta/ui/permissions/"+key), Key: key, Message: "asks for " + key})
		}
		return true
	})
}
