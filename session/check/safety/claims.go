package safety

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/offer"
)

// checkSecrets reports credentials in a text: likely ones by their shape; possible ones that are the default of a parameter with the name of a
// secret, whose evidence has nothing of the value.
func (x *examination) checkSecrets(s fragment) {
	if masked := mask.Prose(s.text); masked != s.text && !onlyPlaceholders(s.text, masked) {
		x.add("secret", check.Finding{Place: s.at, Sure: check.Likely, Message: "has what looks like a credential", Evidence: printable(masked)})
		return
	}
	if s.key == "default" && s.prop != "" && mask.Secret(s.prop) && len(s.text) >= 6 && !strings.ContainsAny(s.text, " /${<") && !isPlaceholder(s.text) {
		x.add("secret-default", check.Finding{Place: s.at, Sure: check.Possible, Message: "the default of " + text.Clip(s.prop, 60) + " is published with the schema", Evidence: mask.Hidden})
	}
}

// onlyPlaceholders reports whether all that was masked is made up, as in documentation.
func onlyPlaceholders(s, masked string) bool {
	parts, ok := maskedParts(s, masked)
	for _, part := range parts {
		ok = ok && isPlaceholder(part)
	}
	return ok
}

// maskedParts returns the parts of s that are mask.Hidden in masked, by what stands between them in both; ok is false where that cannot be told,
// as where masking changed something else.
func maskedParts(s, masked string) (out []string, ok bool) {
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

// isPlaceholder reports whether a credential is made up: a word such as "example", or at most three different characters in its longest part.
func isPlaceholder(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{
		"example", "your", "...", "…", "<", "{", "placeholder", "dummy", "sample", "changeme", "token", "user:pass", "username", "password", "secret", "redacted", "***", "1234567890", "abcdef",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	// These are short enough to stand in a real one by chance, or in the prefix of it (sk_test_): what is left without them decides.
	rest := low
	for _, w := range []string{"xxx", "0000", "test", "foo", "bar"} {
		rest = strings.ReplaceAll(rest, w, "")
	}
	if part := longestPart(rest); rest != low && (len(part) < 16 || !strings.ContainsAny(part, "0123456789") || !strings.ContainsAny(part, "abcdefghijklmnopqrstuvwxyz")) {
		return true
	}
	kinds := map[rune]bool{}
	for _, r := range longestPart(low) {
		kinds[r] = true
	}
	return len(kinds) <= 3
}

// longestPart is the longest of what _ and - separate. A credential may end with one of them and a few characters.
func longestPart(s string) (longest string) {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '_' || r == '-' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// links are URLs as they stand in prose. The group is one that runs code where it is opened: it needs something before it that a URL may follow.
var links = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp)://(?:\[[0-9a-f:.]+\][^\s"'<>()\[\]\x60]*|[^\s"'<>()\[\]\x60]+)|(?:^|[\s("'\[=])((?:javascript|vbscript):\S+|data:text/html[^\s"'<>)]*)`)
})

// checkURLs reports URLs that run code, or hide whose they are.
func (x *examination) checkURLs(s fragment, visible string) {
	for _, m := range links().FindAllStringSubmatchIndex(visible, 20) {
		link := visible[m[0]:m[1]]
		if m[2] >= 0 { // it runs code
			link = visible[m[2]:m[3]]
			f := check.Finding{Place: s.at, Key: text.Clip(link, 100), Sure: check.Likely, Message: "has " + printable(text.Clip(link, 100)), Evidence: printable(visible)}
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
		switch { // addresses that only this machine or network has lead to nobody else
		case err == nil && !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsUnspecified() && !addr.IsLinkLocalUnicast():
			why = "a raw address"
		case strings.Contains(u.User.Username(), "."):
			why = "what looks like a host before the real one"
		case strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--"):
			why = "a punycode name"
		case slices.ContainsFunc([]rune(host), func(r rune) bool { return r >= 0x80 }):
			why = "a name that is not plain letters"
		// Who shows an image fetches it, and sends what stands in its address.
		case m[0] >= 2 && visible[m[0]-2:m[0]] == "](" && strings.Contains(visible[max(0, m[0]-200):m[0]], "![") && (u.RawQuery != "" || strings.Contains(link, "{")):
			why = "an image whose address carries data"
		}
		if why != "" {
			x.add("odd-url", check.Finding{Place: s.at, Key: host, Sure: check.Likely, Message: "has " + why + ": " + host, Evidence: printable(mask.Prose(visible))})
		}
	}
}

// What names and descriptions say that a tool does. destructiveVerbs contradict destructiveHint: false too, changingVerbs only readOnlyHint: true.
var (
	destructiveVerbs = []string{"delete", "remove", "drop", "destroy", "purge", "truncate", "wipe", "erase", "kill", "terminate", "uninstall"}
	changingVerbs    = []string{"create", "write", "update", "edit", "insert", "move", "rename", "send", "publish", "upload", "deploy", "commit", "push", "merge", "install", "patch", "overwrite", "append"}
	openWorldPhrases = []string{"internet", "web search", "search the web", "external api", "http request", "any url"}
)

// opensPages matches descriptions of tools that open web pages, and not only mention them.
var opensPages = regexp.MustCompile(`\b(?:fetch|search|brows|visit|scrap|crawl|open|load|read|download|navigat|go to)\w*[^.!?]*?\b(web ?pages?|websites?)\b`)

// checkHints reports annotations that contradict the name or the description. Hints that are not given contradict nothing, and destructiveHint
// says something only of a tool that is not read-only (the specification's schema, annotations of tools).
func (x *examination) checkHints(at check.Place, it offer.Item) {
	// JSON as it was sent: a hint that is not a boolean says nothing.
	hint := func(name string) string { return string(jsonrpc.Get(it.Annotations, name)) }
	verb := firstWord(prefixes.Replace(it.Name))
	said := firstWord(it.Description)
	// Only the first word counts: what stands later may be of something else ("Lists what was deleted").
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
		x.r.AddSeverity(severity, "safety/hint-contradicts", check.Finding{
			Place: withPointer(at, "/annotations/"+name), Sure: sure, Message: name + " is " + value + ", and " + why, Evidence: printable(text.Clip(it.Name+": "+it.Description, 200)),
		})
	}
	if hint("readOnlyHint") == "true" {
		if why, ok := does(destructiveVerbs); ok {
			contradicts(check.Error, "readOnlyHint", "true", why, check.Likely)
		} else if why, ok := does(changingVerbs); ok {
			contradicts(check.Warning, "readOnlyHint", "true", why, check.Likely)
		} else if why := whyNotReadOnly(verb, it.Description); why != "" {
			contradicts(check.Warning, "readOnlyHint", "true", why, check.Possible)
		}
	} else if hint("destructiveHint") == "false" {
		if why, ok := does(destructiveVerbs); ok {
			contradicts(check.Warning, "destructiveHint", "false", why, check.Likely)
		} else if why := quoteUnlessDenied(it.Description, irreversible()); why != "" {
			contradicts(check.Warning, "destructiveHint", "false", why, check.Possible)
		}
	}
	if hint("openWorldHint") == "false" {
		low := strings.ToLower(it.Description)
		what := ""
		if m := opensPages.FindStringSubmatch(low); m != nil {
			what = m[1]
		}
		for _, w := range openWorldPhrases {
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
	// actingVerbs always change something; runningVerbs may only read.
	actingVerbs  = []string{"set", "reset", "click", "type", "press", "approve", "transfer", "pay", "sync", "mark", "toggle"}
	runningVerbs = []string{"run", "execute", "exec", "eval", "shell", "bash"}
	irreversible = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\boverwrites?\b|\b(?:cannot|can't) be undone\b|\birreversibl[ey]\b|\bpermanently (?:delete|remove|erase)s?\b|\btransfers? (?:money|funds)\b`)
	})
	writesData = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(?:DELETE|DROP|INSERT|UPDATE|TRUNCATE)\b|(?i:\bmarks? (?:\w+ ){1,3}as (?:read|seen|done)\b)|(?i:\b(?:any|arbitrary) (?:sql|command|code|script)s?\b)`)
	})
	readsOnly = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)read[- ]?only|\bselects?\b|without (?:changing|side effects)|does not (?:change|modify|write)|dry[- ]run|\bsandbox|\bquer(?:y|ies)\b`)
	})
)

// whyNotReadOnly says why a tool is not read-only, "" where it may be.
func whyNotReadOnly(verb, about string) string {
	if slices.Contains(actingVerbs, verb) || slices.Contains(runningVerbs, verb) && !readsOnly().MatchString(about) {
		return "its name begins with " + verb
	}
	if why := quoteUnlessDenied(about, irreversible()); why != "" {
		return why
	}
	return quoteUnlessDenied(about, writesData())
}

// quoteUnlessDenied quotes the first match in a description that its clause does not deny, "" for none. The first 4 KiB are read.
func quoteUnlessDenied(about string, of *regexp.Regexp) string {
	l := oneLine(text.Cut(about, 4<<10))
	for _, m := range of.FindAllStringIndex(l.plain, -1) {
		if !l.isDenied(m[0]) {
			return `its description says "` + l.plain[m[0]:m[1]] + `"`
		}
	}
	return ""
}

// isDangerousDefault reports whether a default does harm when the parameter is left out. def is JSON, nil for none. A root, home or wildcard
// does so only with a tool that deletes or runs something.
func isDangerousDefault(name string, def []byte, it offer.Item) bool {
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
		return slices.Contains(destructiveVerbs, verb) || slices.Contains(runningVerbs, verb)
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

// asksForContext matches descriptions of parameters that want what the model was told: all of it, or word for word.
var asksForContext = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:full|entire|complete|whole|verbatim)(?: \w+)? (?:conversation|chat history|chat log|system prompt|message history|context window)|\b(?:your|the) system prompt\b|\buser(?:'s|’s|s)? (?:\w+ ){0,3}(?:message|prompt|question|request|words|input)s?,? (?:\w+ ){0,2}verbatim\b|\b(?:all|every) (?:the )?(?:earlier|previous|prior|past|preceding) (?:messages?|turns?)\b|\b(?:list of )?all (?:the )?(?:other )?tools (?:that are |you have )?(?:available|access)`)
})

// checkParameters reports dangerous defaults, and parameters that ask for the conversation. Only those at the top of the input schema are looked
// at; a name counts as a whole, however its words are separated.
func (x *examination) checkParameters(at check.Place, it offer.Item) {
	_ = jsonrpc.Members(jsonrpc.Get(it.InputSchema, "properties"), func(name string, prop []byte) bool { // anything else has none
		if def := jsonrpc.Get(prop, "default"); isDangerousDefault(name, def, it) {
			x.add("dangerous-default", check.Finding{
				Place: withPointer(at, "/inputSchema/properties/"+jsonrpc.EscapeToken(name)+"/default"), Sure: check.Likely, Message: "the default of " + printable(text.Clip(name, 60)) + " is " + printable(text.Clip(string(def), 60)),
				Evidence: printable(string(def)),
			})
		}
		why := ""
		switch strings.ReplaceAll(skeletonWords(name), " ", "") {
		case "conversation", "conversationhistory", "chathistory", "messagehistory", "systemprompt", "fullcontext", "fullconversation", "previousmessages", "toolslist", "availabletools", "chainofthought",
			"usersystemprompt", "transcript", "promptcontext", "llmcontext", "modelcontext":
			why = "is called " + printable(text.Clip(name, 60))
		}
		if m := asksForContext().FindString(jsonrpc.GetString(prop, "description")); m != "" && why == "" {
			why = "asks for " + printable(text.Clip(m, 80))
		}
		if why != "" {
			x.add("asks-for-context", check.Finding{
				Place: withPointer(at, "/inputSchema/properties/"+jsonrpc.EscapeToken(name)), Sure: check.Likely, Message: why, Evidence: printable(jsonrpc.GetString(prop, "description")),
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

// open matches URI templates whose scheme, host or whole path is up to who fills them in: those that begin with an expression, or have one where
// the host stands, and files with {+var}, which lets slashes through (RFC 6570, 3.2.3), or with {var*}, which takes a list.
var open = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:file:/{0,3}\{|\{[+#]?[^}]*\}|(?:https?|ftp)://\{|file:.*\{\+[^}]*\}|file:.*\{[^}]*\*\}|(?:https?|ftp)://[^/]*\{\+)`)
})

// checkTemplate looks for templates that lead anywhere.
func (x *examination) checkTemplate(at check.Place, uri string) {
	if open().MatchString(uri) {
		x.add("template-escapes", check.Finding{Place: withPointer(at, "/uriTemplate"), Sure: check.Likely, Message: printable(text.Clip(uri, 100)) + " can be made any path or host"})
	}
}

// isAnywhere reports whether an origin of a Content Security Policy lets a page reach hosts that nobody named, or anybody on the way to one: a wildcard
// alone, a scheme alone, and what is not encrypted, but for this machine.
// https://www.w3.org/TR/CSP3/#grammardef-host-source
func isAnywhere(origin string) bool {
	scheme, host, ok := strings.Cut(strings.ToLower(origin), "://")
	if !ok {
		scheme, host = "", scheme
	}
	host, _, _ = strings.Cut(host, "/")
	name := host // without a port, which may be a wildcard too
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
	}
	if strings.Trim(name, "*") == "" || slices.Contains([]string{"https:", "http:", "wss:", "ws:"}, host) {
		return true
	}
	return (scheme == "http" || scheme == "ws") && listen.ReachOf(&url.URL{Host: strings.TrimSuffix(host, ":*")}) != listen.Machine
}

// checkApp looks at what the page of an app may do, by the _meta.ui of a tool or of the resource that is the page.
func (x *examination) checkApp(at check.Place, it offer.Item) {
	ui := jsonrpc.Get(it.Raw, "_meta", "ui")
	if ui == nil {
		return
	}
	at.Pointer = "/_meta/ui"
	_ = jsonrpc.Members(jsonrpc.Get(ui, "csp"), func(key string, value []byte) bool {
		_ = jsonrpc.Elements(value, func(v []byte) bool {
			if origin, _ := jsonrpc.String(v); isAnywhere(origin) {
				x.add("app-reaches-out", check.Finding{Place: withPointer(at, "/_meta/ui/csp/"+key), Key: origin, Message: key + " has " + printable(text.Clip(origin, 60))})
			}
			return true
		})
		return true
	})
	_ = jsonrpc.Members(jsonrpc.Get(ui, "permissions"), func(key string, _ []byte) bool {
		if slices.Contains([]string{"camera", "microphone", "geolocation"}, strings.ToLower(key)) {
			x.add("app-reaches-out", check.Finding{Place: withPointer(at, "/_meta/ui/permissions/"+key), Key: key, Message: "asks for " + key})
		}
		return true
	})
}
