package auth_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// attack is one misbehaviour, and how a login has to end.
type attack struct {
	turn func(k *authtest.Knobs)
	step string     // that fails
	by   auth.Party // who broke a rule; "" where no rule of the specification is
	says string     // in the error
}

const (
	prm      = "/.well-known/oauth-protected-resource/mcp"
	metadata = "/.well-known/oauth-authorization-server"
)

func resource(name string, v any) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) { k.Resource = func(doc map[string]any) { doc[name] = v } }
}

func issuers(u string) func(*authtest.Knobs) { return resource("authorization_servers", []string{u}) }

func member(name string, v any) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) {
		k.Metadata = func(doc map[string]any) {
			if doc[name] = v; v == nil {
				delete(doc, name)
			}
		}
	}
}

func back(edit func(q url.Values)) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) { k.Back = edit }
}

func token(name string, v any) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) { k.Token = func(doc map[string]any) { doc[name] = v } }
}

func serve(path string, h http.HandlerFunc) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) { k.Serve = map[string]http.HandlerFunc{path: h} }
}

func says(path string, status int, contentType, body string) func(*authtest.Knobs) {
	return serve(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func redirects(path, to string) func(*authtest.Knobs) {
	return serve(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) })
}

// huge is 50 MB of JSON, of which hardly anything may be read.
func huge(path string) func(*authtest.Knobs) {
	return serve(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"resource":"`)
		for range 50 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
}

var attacks = map[string]attack{
	"resource of another server":          {resource("resource", "https://evil.example.com/mcp"), auth.StepResource, auth.ByServer, "evil.example.com"},
	"resource of another path":            {resource("resource", "https://mcp.example.com/other"), auth.StepResource, auth.ByServer, "/other"},
	"resource of a path that begins so":   {resource("resource", "https://mcp.example.com/mc"), auth.StepResource, auth.ByServer, "/mc"},
	"resource by http":                    {resource("resource", "http://mcp.example.com/mcp"), auth.StepResource, auth.ByServer, "http://"},
	"no resource":                         {resource("resource", ""), auth.StepResource, auth.ByServer, "resource"},
	"resource is a number":                {resource("resource", 7), auth.StepResource, "", "not the JSON"},
	"resource twice":                      {says(prm, 200, "application/json", `{"resource":"https://mcp.example.com/mcp","resource":"https://evil.example.com"}`), auth.StepResource, "", "duplicate"},
	"resource metadata of 50 MB":          {huge(prm), auth.StepResource, "", "more than 1.0 MB"},
	"resource metadata is a page":         {says(prm, 200, "text/html", "<html>"), auth.StepResource, "", "not the JSON"},
	"resource metadata fails":             {says(prm, 503, "text/plain", "down"), auth.StepResource, "", "503"},
	"resource metadata is not there":      {says(prm, 404, "text/plain", ""), auth.StepResource, auth.ByServer, "WWW-Authenticate names"},
	"resource metadata redirects to self": {redirects(prm, prm), auth.StepResource, "", "redirects more than"},
	"resource metadata redirects to http": {redirects(prm, "http://evil.example.com"+prm), auth.StepResource, auth.ByServer, "not encrypted"},
	"resource metadata redirects home":    {redirects(prm, "https://192.168.0.1/admin"), auth.StepResource, auth.ByServer, "192.168.0.1"},
	"resource metadata by javascript":     {challenge(`Bearer resource_metadata="javascript:alert(1)"`), auth.StepResource, auth.ByServer, "not an https URL"},
	"resource metadata is a file":         {challenge(`Bearer resource_metadata="file:///etc/passwd"`), auth.StepResource, auth.ByServer, "not an https URL"},
	"resource metadata with a password":   {challenge(`Bearer resource_metadata="https://a:b@evil.example.com/"`), auth.StepResource, auth.ByServer, "no plain host"},
	"resource metadata at a number":       {challenge(`Bearer resource_metadata="https://0177.0.0.1/"`), auth.StepResource, auth.ByServer, "a program of this machine"},
	"resource metadata redirects to svc":  {redirects(prm, "https://kubernetes.default.svc/"), auth.StepResource, auth.ByServer, "a program of this machine or its network"},
	"resource with a user":                {resource("resource", "https://bank.example@mcp.example.com/mcp"), auth.StepResource, auth.ByServer, "has a user in it"},
	"resource with an empty user":         {resource("resource", "https://@mcp.example.com/mcp"), auth.StepResource, auth.ByServer, "has a user in it"},
	"resource metadata on this machine":   {challenge(`Bearer resource_metadata="http://127.0.0.1:9/"`), auth.StepResource, auth.ByServer, "a program of this machine"},

	"issuer by javascript":       {issuers("javascript:alert(1)"), auth.StepServer, auth.ByServer, "not an https URL"},
	"issuer is a file":           {issuers("file:///etc/passwd"), auth.StepServer, auth.ByServer, "not an https URL"},
	"issuer by http":             {issuers("http://login.example.com"), auth.StepServer, auth.ByServer, "not encrypted"},
	"issuer is no URL":           {issuers("https://%zz"), auth.StepServer, auth.ByServer, "not a URL"},
	"issuer in the network":      {issuers("https://192.168.1.1"), auth.StepServer, auth.ByServer, "192.168.1.1"},
	"issuer is cloud metadata":   {issuers("https://169.254.169.254"), auth.StepServer, auth.ByServer, "169.254.169.254"},
	"issuer is this machine":     {issuers("https://localhost:6379"), auth.StepServer, auth.ByServer, "localhost:6379"},
	"issuer is this machine, v6": {issuers("https://[::1]"), auth.StepServer, auth.ByServer, "[::1]"},
	"issuer is v4 in v6":         {issuers("https://[::ffff:10.0.0.1]"), auth.StepServer, auth.ByServer, "10.0.0.1"},
	"issuer is zero, v6":         {issuers("https://[::]"), auth.StepServer, auth.ByServer, "[::]"},
	"issuer in a carrier's net":  {issuers("https://100.100.100.200"), auth.StepServer, auth.ByServer, "100.100.100.200"},
	"issuer behind a translator": {issuers("https://[64:ff9b::a9fe:a9fe]"), auth.StepServer, auth.ByServer, "64:ff9b"},
	"issuer is v4 compatible":    {issuers("https://[::127.0.0.1]"), auth.StepServer, auth.ByServer, "127.0.0.1"},
	"issuer of 20 kB":            {issuers("https://login.example.com/" + strings.Repeat("a", 20<<10)), auth.StepServer, auth.ByServer, "longer than"},
	"scopes of 400 kB":           {resource("scopes_supported", slices.Repeat([]string{"a", "b"}, 100<<10)), auth.StepServer, auth.ByServer, "204800 scopes"},
	"issuer is a number":         {issuers("https://2130706433"), auth.StepServer, auth.ByServer, "2130706433, which is a program of this machine"},
	"issuer is a short number":   {issuers("https://0x7f.1"), auth.StepServer, auth.ByServer, "0x7f.1, which is a program of this machine"},
	"issuer is wide":             {issuers("https://127。0。0。1"), auth.StepServer, auth.ByServer, "which is a program of this machine"},
	"issuer is a cloud's":        {issuers("https://metadata.google.internal"), auth.StepServer, auth.ByServer, "metadata.google.internal, which is a program of this machine or its network"},
	"issuer is a single label":   {issuers("https://nas"), auth.StepServer, auth.ByServer, "nas, which is a program"},
	"issuer is zero":             {issuers("https://0.0.0.0"), auth.StepServer, auth.ByServer, "0.0.0.0"},

	"metadata of another issuer":     {member("issuer", "https://evil.example.com"), auth.StepServer, auth.ByIssuer, "evil.example.com"},
	"metadata with a slash":          {member("issuer", "https://login.example.com/"), auth.StepServer, auth.ByIssuer, "login.example.com/"},
	"metadata in other letters":      {member("issuer", "https://LOGIN.example.com"), auth.StepServer, auth.ByIssuer, "LOGIN"},
	"metadata without an issuer":     {member("issuer", nil), auth.StepServer, auth.ByIssuer, "issuer"},
	"metadata of 50 MB":              {huge(metadata), auth.StepServer, "", "more than 1.0 MB"},
	"metadata redirects to self":     {redirects(metadata, metadata), auth.StepServer, "", "redirects more than"},
	"metadata twice":                 {says(metadata, 200, "application/json", `{"issuer":"https://login.example.com","token_endpoint":"https://a.example","token_endpoint":"https://evil.example.com/token"}`), auth.StepServer, "", "duplicate"},
	"metadata is not there":          {says(metadata, 404, "text/plain", ""), auth.StepServer, auth.ByIssuer, "no authorization-server metadata"},
	"metadata fails":                 {says(metadata, 500, "text/plain", ""), auth.StepServer, "", "500"},
	"no token endpoint":              {member("token_endpoint", nil), auth.StepServer, auth.ByIssuer, "token_endpoint"},
	"no authorization endpoint":      {member("authorization_endpoint", nil), auth.StepRegister, auth.ByIssuer, "authorization_endpoint"},
	"no PKCE":                        {member("code_challenge_methods_supported", nil), auth.StepRegister, auth.ByIssuer, "PKCE"},
	"plain PKCE":                     {member("code_challenge_methods_supported", []string{"plain"}), auth.StepRegister, auth.ByIssuer, "PKCE"},
	"login page by javascript":       {member("authorization_endpoint", "javascript:fetch('//evil')"), auth.StepServer, auth.ByIssuer, "not an https URL"},
	"login page is a file":           {member("authorization_endpoint", "file:///C:/Windows/System32/calc.exe"), auth.StepServer, auth.ByIssuer, "not an https URL"},
	"login page is a program":        {member("authorization_endpoint", "ms-msdt:/id"), auth.StepServer, auth.ByIssuer, "not an https URL"},
	"login page is an option":        {member("authorization_endpoint", "--version"), auth.StepServer, auth.ByIssuer, "not an https URL"},
	"login page with a command":      {member("authorization_endpoint", "https://a.example/`id`$(id)\n;id"), auth.StepServer, auth.ByIssuer, "authorization_endpoint"},
	"login page by http":             {member("authorization_endpoint", "http://login.example.com/authorize"), auth.StepServer, auth.ByIssuer, "not encrypted"},
	"login page with a name":         {member("authorization_endpoint", "https://login.example.com@evil.example.com/"), auth.StepServer, auth.ByIssuer, "no plain host"},
	"login page on this machine":     {member("authorization_endpoint", "http://127.0.0.1:8080/"), auth.StepServer, auth.ByIssuer, "a program of this machine"},
	"token endpoint by http":         {member("token_endpoint", "http://login.example.com/token"), auth.StepServer, auth.ByIssuer, "not encrypted"},
	"token endpoint in the network":  {member("token_endpoint", "https://10.1.2.3/token"), auth.StepServer, auth.ByIssuer, "10.1.2.3"},
	"login page at a number":         {member("authorization_endpoint", "https://0x7f000001/"), auth.StepServer, auth.ByIssuer, "a program of this machine"},
	"token endpoint in a local name": {member("token_endpoint", "https://router.local/token"), auth.StepServer, auth.ByIssuer, "router.local"},
	"token endpoint by gopher":       {member("token_endpoint", "gopher://127.0.0.1:6379/_FLUSHALL"), auth.StepServer, auth.ByIssuer, "not an https URL"},
	"registration in the network":    {member("registration_endpoint", "https://10.1.2.3/register"), auth.StepServer, auth.ByIssuer, "10.1.2.3"},
	"revocation in the network":      {member("revocation_endpoint", "https://10.1.2.3/revoke"), auth.StepServer, auth.ByIssuer, "10.1.2.3"},
	"metadata of another type":       {member("code_challenge_methods_supported", "S256"), auth.StepServer, "", "not the JSON"},
	"registration refused":           {func(k *authtest.Knobs) { k.Refuse = map[string]string{"/register": "access_denied"} }, auth.StepRegister, "", "access_denied"},
	"nobody can register":            {member("registration_endpoint", nil), auth.StepRegister, auth.ByUser, "client_id"},
	"registration redirects":         {redirects("/register", "https://evil.example.com/register"), auth.StepRegister, auth.ByIssuer, "307"},
	"registration without a client":  {func(k *authtest.Knobs) { k.Registration = func(doc map[string]any) { delete(doc, "client_id") } }, auth.StepRegister, auth.ByIssuer, "client_id"},
	"registration is a page":         {says("/register", 200, "text/html", "<html>"), auth.StepRegister, auth.ByIssuer, "no client"},
	"registration of 50 MB":          {huge("/register"), auth.StepRegister, "", "more than 1.0 MB"},
	"iss is missing":                 {back(func(q url.Values) { q.Del("iss") }), auth.StepAuthorize, auth.ByIssuer, "no iss"},
	"iss of another issuer":          {back(func(q url.Values) { q.Set("iss", "https://evil.example.com") }), auth.StepAuthorize, auth.ByIssuer, "evil.example.com"},
	"iss with a slash":               {back(func(q url.Values) { q.Set("iss", "https://login.example.com/") }), auth.StepAuthorize, auth.ByIssuer, "iss is"},
	"iss with a port":                {back(func(q url.Values) { q.Set("iss", "https://login.example.com:443") }), auth.StepAuthorize, auth.ByIssuer, "iss is"},
	"iss in other letters":           {back(func(q url.Values) { q.Set("iss", "https://LOGIN.example.com") }), auth.StepAuthorize, auth.ByIssuer, "iss is"},
	"iss is empty":                   {back(func(q url.Values) { q.Set("iss", "") }), auth.StepAuthorize, auth.ByIssuer, "iss is"},
	"iss twice":                      {back(func(q url.Values) { q.Add("iss", "https://evil.example.com") }), auth.StepAuthorize, auth.ByIssuer, "twice"},
	"code twice":                     {back(func(q url.Values) { q.Add("code", "another") }), auth.StepAuthorize, auth.ByIssuer, "twice"},
	"state twice":                    {back(func(q url.Values) { q.Add("state", "another") }), auth.StepAuthorize, auth.ByIssuer, "twice"},
	"neither code nor error":         {back(func(q url.Values) { q.Del("code") }), auth.StepAuthorize, auth.ByIssuer, "neither"},
	"refused by the person":          {func(k *authtest.Knobs) { k.Refuse = map[string]string{"/authorize": "access_denied"} }, auth.StepAuthorize, "", "access_denied"},
	"refused by another issuer": {back(func(q url.Values) {
		q.Del("code")
		q.Set("error", "access_denied")
		q.Set("iss", "https://evil.example.com")
	}), auth.StepAuthorize, auth.ByIssuer, "iss is"},
	"token endpoint redirects": {redirects("/token", "https://evil.example.com/token"), auth.StepToken, auth.ByIssuer, "307"},
	"token endpoint refuses":   {func(k *authtest.Knobs) { k.Refuse = map[string]string{"/token": "invalid_grant"} }, auth.StepToken, "", "invalid_grant"},
	"token endpoint is a page": {says("/token", 200, "text/html", "<html>"), auth.StepToken, auth.ByIssuer, "JSON"},
	"token endpoint fails":     {says("/token", 502, "text/html", "<html>"), auth.StepToken, auth.ByIssuer, "502"},
	"token endpoint of 50 MB":  {huge("/token"), auth.StepToken, "", "more than 1.0 MB"},
	"a token of 100 kB":        {token("access_token", strings.Repeat("a", 100<<10)), auth.StepToken, auth.ByIssuer, "longer than"},
	"scopes granted, 400 kB":   {token("scope", strings.Repeat("a ", 200<<10)), auth.StepToken, auth.ByIssuer, "longer than"},
	"a client_id of 100 kB": {func(k *authtest.Knobs) {
		k.Registration = func(doc map[string]any) { doc["client_id"] = strings.Repeat("a", 100<<10) }
	}, auth.StepRegister, auth.ByIssuer, "longer than"},
	"no token":                        {token("access_token", ""), auth.StepToken, auth.ByIssuer, "access_token"},
	"a token that splits a header":    {token("access_token", "a\r\nX-Evil: 1"), auth.StepToken, auth.ByIssuer, "access_token"},
	"a token of another type":         {token("token_type", "mac"), auth.StepToken, auth.ByIssuer, "token_type"},
	"two tokens":                      {says("/token", 200, "application/json", `{"access_token":"zqtwiceAzq","access_token":"zqtwiceBzq","token_type":"Bearer"}`), auth.StepToken, auth.ByIssuer, "duplicate"},
	"a token before garbage":          {says("/token", 200, "application/json", `{"access_token":"zqtwiceAzq","token_type":"Bearer"} }`), auth.StepToken, auth.ByIssuer, "JSON"},
	"a token that is cut off":         {says("/token", 200, "application/json", `{"token_type":"Bearer","access_token":"zqtwiceAzq`), auth.StepToken, auth.ByIssuer, "JSON"},
	"a token deeper down":             {says("/token", 200, "application/json", `{"data":{"access_token": "zqtwiceAzq"}}`), auth.StepToken, auth.ByIssuer, "access_token"},
	"a token and an error":            {says("/token", 200, "application/json", `{"access_token":"zqtwiceAzq","token_type":"Bearer","error":"invalid_scope"}`), auth.StepToken, "", "invalid_scope"},
	"the code in an error":            {echo("code"), auth.StepToken, "", "invalid_grant"},
	"the verifier in an error":        {echo("code_verifier"), auth.StepToken, "", "invalid_grant"},
	"the secret in a page":            {page("client_secret"), auth.StepToken, auth.ByIssuer, "JSON"},
	"the secret in a name of a value": {names("code"), auth.StepToken, "", "invalid_grant"},
}

func challenge(h string) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) { k.Challenges = []string{h} }
}

// echo is a token endpoint that says what it was sent.
func echo(name string) func(*authtest.Knobs) {
	return serve("/token", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"unknown: `+r.PostFormValue(name)+`, sorry"}`)
	})
}

func page(name string) func(*authtest.Knobs) {
	return func(k *authtest.Knobs) {
		member("token_endpoint_auth_methods_supported", []string{"client_secret_post"})(k)
		serve("/token", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `<html>`+r.PostFormValue(name)+`</html>`)
		})(k)
	}
}

func names(name string) func(*authtest.Knobs) {
	return serve("/token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request", r.PostFormValue(name))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","`+r.PostFormValue(name)+`":1}`)
	})
}

func TestX8_Attacks(t *testing.T) {
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			var k authtest.Knobs
			a.turn(&k)
			r := public(t, k)
			evil := r.Beside("evil.example.com", authtest.Knobs{})
			err := r.login()
			e := (*failure.Error)(nil)
			if !errors.As(err, &e) || e.Kind != failure.OAuth || !strings.Contains(err.Error(), a.says) {
				t.Fatalf("the login ended with %v", err)
			}
			if len(e.Message) > 500 || e.Next == "" {
				t.Errorf("the message is %q, then %q", e.Message, e.Next)
			}
			s := r.last()
			if s.Name != a.step || s.State != auth.Failed || s.Err == nil {
				t.Errorf("the last step is %+v", s)
			}
			if a.by != "" && (s.Broken == nil || s.Broken.By != a.by || s.Broken.Section == "") {
				t.Errorf("broken is %+v, and %s is to blame", s.Broken, a.by)
			}
			if calls := evil.Calls(""); len(calls) != 0 {
				t.Errorf("evil.example.com got %v", calls)
			}
			if n := len(r.Issuer.Calls("/token")); n != 0 && a.step != auth.StepToken || n > 1 {
				t.Errorf("%d token requests", n)
			}
			if n := len(r.p.Shown()); n != 0 && a.step != auth.StepToken && a.step != auth.StepAuthorize {
				t.Errorf("%d URLs were shown", n)
			}
			if st := r.s.Authorizer().Status(); st.LoggedIn || r.p.Open() != 0 {
				t.Errorf("%d visits open, status %+v", r.p.Open(), st)
			}
			assert.NotContains(t, r.journal(), "zqtwice")
		})
	}
}
