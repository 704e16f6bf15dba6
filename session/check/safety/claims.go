package safety

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
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
	return regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp)://(?:\[[0-9a-f:.]+\][^\s"'<>()\[\]\x60]*|[^\s"'<>()\[\]\x60]+)|(?:^|[\s("'\[=])((?:javascript|vbscript):\S+|data:text/html[^\s"'<>)]*)`)
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
	reaches  = []string{"internet", "web search", "search the web", "external api", "http request", "any url"}
)

// opens is a tool that goes to pages, and not only speaks of them.
var opens = regexp.MustCompile(`\b(?:fetch|search|brows|visit|scrap|crawl|open|load|read|download|navigat|go to)\w*[^.!?]*?\b(web ?pages?|websites?)\b`)

// hints compares annotations with what the name and the description begin with.
func (x *examination) hints(at check.Place, it offer.Item) {
	hint := func(name string) string { return string(jsonrpc.Get(it.Annotations, name)) }
	verb := firstWord(prefixes.Replace(it.Name))
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
		} else if why := acts(verb, it.Description); why != "" {
			contradicts(check.Warning, "readOnlyHint", "true", why, check.Possible)
		}
	} else if hint("destructiveHint") == "false" {
		if why, ok := does(destroys); ok {
			contradicts(check.Warning, "destructiveHint", "false", why, check.Likely)
		} else if why := speaks(it.Description, ruins()); why != "" {
			contradicts(check.Warning, "destructiveHint", "false", why, check.Possible)
		}
	}
	if hint("openWorldHint") == "false" {
		low := strings.ToLower(it.Description)
		what := ""
		if m := opens.FindStringSubmatch(low); m != nil {
			what = m[1]
		}
		for _, w := range reaches {
			if what == "" && strings.Contains(low, w) {
				what = w
			}
		}
		if what != "" {
			contradicts(check.Warning, "openWorldHint", "false", "its description speaks of "+what, check.Possible)
		}
	}
}

var (
	// prefixes are what servers put before the verb of all their tools.
	prefixes = strings.NewReplacer("API-", "", "api_", "", "api-", "", "mcp_", "", "mcp-", "")
	// acting are verbs that change something wherever they are told to; running may well only read.
	acting  = []string{"set", "reset", "click", "type", "press", "approve", "transfer", "pay", "sync", "mark", "toggle"}
	running = []string{"run", "execute", "exec", "eval", "shell", "bash"}
	ruins   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\boverwrites?\b|\b(?:cannot|can't) be undone\b|\birreversibl[ey]\b|\bpermanently (?:delete|remove|erase)s?\b|\btransfers? (?:money|funds)\b`)
	})
	writes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:DELETE|DROP|INSERT|UPDATE|TRUNCATE)\b|(?i:\bmarks? (?:\w+ ){1,3}as (?:read|seen|done)\b)|(?i:\b(?:any|arbitrary) (?:sql|command|code|script)s?\b)`)
	})
	onlyReads = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)read[- ]?only|\bselects?\b|without (?:changing|side effects)|does not (?:change|modify|write)|dry[- ]run|\bsandbox|\bquer(?:y|ies)\b`)
	})
)

// acts is why a tool is not read-only, "" where it may be.
func acts(verb, about string) string {
	if slices.Contains(acting, verb) || slices.Contains(running, verb) && !onlyReads().MatchString(about) {
		return "its name begins with " + verb
	}
	if why := speaks(about, ruins()); why != "" {
		return why
	}
	return speaks(about, writes())
}

// speaks is what a description says of itself, unless it is denied there.
func speaks(about string, of *regexp.Regexp) string {
	plain := strings.Join(strings.Fields(text.Cut(about, 4<<10)), " ")
	for _, m := range of.FindAllStringIndex(plain, 10) {
		if !forbidden(plain, m[0]) {
			return `its description says "` + plain[m[0]:m[1]] + `"`
		}
	}
	return ""
}

// careless is a default that does harm where the parameter is left out.
func careless(name string, def []byte, it offer.Item) bool {
	switch skeletonWords(name) {
	case "confirm", "confirmed", "force", "yes", "approve", "approved", "skipconfirmation", "autoapprove", "iamsure":
		return string(def) == "true"
	}
	s, ok := jsonrpc.String(def)
	if !ok {
		return false
	}
	low := strings.ToLower(strings.TrimSpace(s))
	verb := firstWord(prefixes.Replace(it.Name))
	switch low {
	case "/", "~", "c:\\", "c:/", "*":
		return slices.Contains(destroys, verb) || slices.Contains(running, verb)
	}
	return strings.Contains(low, "rm -rf") || strings.Contains(low, "drop table") || strings.HasPrefix(low, "/etc/shadow") || strings.HasPrefix(low, "/etc/passwd") ||
		strings.HasPrefix(low, "~/.ssh") || strings.HasPrefix(low, "~/.aws")
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
	return regexp.MustCompile(`(?i)\b(?:full|entire|complete|whole|verbatim)(?: \w+)? (?:conversation|chat history|chat log|system prompt|message history|context window)|\b(?:your|the) system prompt\b|\buser(?:'s|’s|s)? (?:\w+ ){0,3}(?:message|prompt|question|request|words|input)s?,? (?:\w+ ){0,2}verbatim\b|\b(?:all|every) (?:the )?(?:earlier|previous|prior|past|preceding) (?:messages?|turns?)\b|\b(?:list of )?all (?:the )?(?:other )?tools (?:that are |you have )?(?:available|access)`)
})

// parameters looks for those that ask for what is not the tool's business.
func (x *examination) parameters(at check.Place, it offer.Item) {
	_ = jsonrpc.Members(jsonrpc.Get(it.InputSchema, "properties"), func(name string, prop []byte) bool { // anything else has none
		if def := jsonrpc.Get(prop, "default"); careless(name, def, it) {
			x.add("dangerous-default", check.Finding{
				Place: with(at, "/inputSchema/properties/"+schema.EscapeToken(name)+"/default"), Sure: check.Likely, Message: "the default of " + shown(text.Clip(name, 60)) + " is " + shown(text.Clip(string(def), 60)),
				Evidence: shown(string(def)),
			})
		}
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
