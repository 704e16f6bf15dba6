package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Field is a line of a description.
type Field struct{ Label, Value string }

// Describe says what starting s would do, in full, for a person who has to decide: every argument, variable and header,
// secrets masked. Values are quoted where their bounds would not show, and hold no control characters.
//
// Masking must not hide what would run: under a flag called --token, or before the @ of a URL, an argument can hold a
// command for a shell. What has the marks of one is shown as it is.
func Describe(s Server) []Field {
	sent := s
	s = s.Masked()
	if sent.origin == nil || sent.Command != sent.origin.is.Command {
		s.Command = sent.reveal("", sent.Command, s.Command)
	}
	lists := [][2][]string{{sent.HeadersHelper, s.HeadersHelper}}
	if !sent.origin.args(sent) { // which are shown as they are to be
		lists = append(lists, [2][]string{sent.Args, s.Args})
	}
	for _, argv := range lists {
		flag := "" // the argument before
		for i, a := range argv[0] {
			argv[1][i] = sent.reveal(flag, a, argv[1][i])
			flag = a
		}
	}
	if !sent.origin.args(sent) {
		for i := range beforePackage(sent.Command, sent.Args) {
			s.Args[i] = sent.hide(sent.Args[i])
		}
	}
	for k := range s.Env {
		if !sent.origin.env(k, sent.Env[k]) {
			s.Env[k] = sent.reveal(k, sent.Env[k], s.Env[k])
		}
	}
	var out []Field
	add := func(label, value string) {
		if value != "" {
			out = append(out, Field{label, value})
		}
	}
	add("server", quote(s.Name))
	add("from", s.Source.String())
	if p := s.Source.Published; p != nil {
		p.describe(add)
	}
	if s.Command != "" {
		add("runs", commandLine(append([]string{s.Command}, s.Args...)))
		add("in", quoteNonEmpty(s.Cwd))
		if s.Sandbox != nil {
			add("sandbox", s.Sandbox.Describe(quote))
		}
	}
	if len(s.HeadersHelper) > 0 {
		add("runs", commandLine(s.HeadersHelper))
		add("to get", "headers")
	}
	add("connects to", quoteNonEmpty(s.URL))
	add("through", quoteNonEmpty(s.Proxy))
	add("trusts", quoteNonEmpty(s.CA))
	if s.Insecure {
		add("trusts", "any certificate")
	}
	for _, f := range slices.Compact([]string{s.ClientCert, s.ClientKey}) {
		add("reads", quoteNonEmpty(f))
	}
	for _, k := range sortedKeys(s.Env) {
		add("env", quote(k)+"="+quote(s.Env[k]))
	}
	for _, k := range sortedKeys(s.Headers) {
		add("header", quote(k)+": "+quote(s.Headers[k]))
	}
	for _, in := range s.Inputs { // which stand above as they are written
		if in.Default != "" {
			add("unless told", quote(in.Name)+"="+quote(in.Default))
		}
	}
	for _, r := range s.Roots {
		add("may see", quote(r))
	}
	// Their values are masked above, or look like anything; where they go to is what matters.
	add("is given", strings.Join(s.variables, ", "))
	if a := s.OAuth; a != nil {
		add("signs in at", quoteNonEmpty(a.AuthURL))
		add("tokens from", quoteNonEmpty(a.TokenURL))
		add("metadata at", quoteNonEmpty(a.MetadataURL))
		add("identity at", quoteNonEmpty(cmp.Or(a.IDPTokenURL, a.IDPIssuer)))
		for _, f := range a.files() {
			add("reads", quote(f))
		}
		if sent.NeedsToken() {
			add("gets token", strings.Join(sent.TokenVariables(), ", "))
		}
	}
	return out
}

func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quote(a)
	}
	return strings.Join(words, " ")
}

// reveal is the value of the flag or variable name as masked, or in full (but for the secrets of variables that were
// expanded into it) where it could be what runs: more than one plain word, a path, or the value of --password-command.
func (s Server) reveal(name, value, masked string) string {
	if value == masked {
		return masked
	}
	if _, setting, _ := strings.Cut(value, "="); plainURL(value) || plainURL(setting) {
		return masked
	}
	rest := strings.TrimSpace(authScheme.ReplaceAllString(headerStart.ReplaceAllString(value, ""), ""))
	operand := rest
	if before, after, ok := strings.Cut(rest, "="); ok {
		name, operand = before, after
	}
	path := strings.Contains(operand, "/") || strings.HasPrefix(operand, ".")
	if path || programName.MatchString(name) || strings.ContainsAny(rest, " \t\r\n;|&$<>(){}[]`'\"\\*?!~") {
		return s.hide(value)
	}
	return masked
}

var (
	// programName is how names of flags, variables and settings end that take a program or a file.
	programName = regexp.MustCompile(`(?i)(command|cmd|helper|program|exec|script|file|path)$`)
	// headerStart is how a header begins that is given as an argument.
	headerStart = regexp.MustCompile(`^[A-Za-z][\w-]*:\s*`)
	// authScheme is an authorization scheme and its value.
	authScheme = regexp.MustCompile(`(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{6,}`)
	anyURL     = regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://\S+`)
)

// plainURL reports whether value is one URL as it is written for people, queries
// included, and nothing that a shell would take apart.
func plainURL(value string) bool {
	return value != "" && anyURL.FindString(value) == value && !strings.ContainsAny(value, ";|$<>(){}`'\"\\*!")
}

func quoteNonEmpty(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

// quote leaves plain words as they are. What strconv quotes it escapes as well:
// controls, bidi marks, invisible characters.
func quote(s string) string {
	if s == "" {
		return `""`
	}
	for _, r := range s {
		if r <= ' ' || strings.ContainsRune("\"'\\`$&|;<>()", r) || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}
