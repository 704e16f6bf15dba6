package diagnosis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// missing is what is said of a variable that is wanted.
func missing(name string) [2]string { return [2]string{"the variable " + name + " is missing", name} }

// wanted is for each file of testdata/stderr what a person says why the program did not start, and the variable that it wants.
var wanted = map[string][2]string{
	"airtable-mcp-server":                      missing("AIRTABLE_API_KEY"),
	"apify-actors-mcp-server":                  missing("APIFY_TOKEN"),
	"auth0-auth0-mcp-server":                   {"Error: Failed to load keytar native addon"},
	"azure-devops-mcp":                         {"the module ../build/Release/keytar.node is missing"},
	"bash-uvx":                                 {"the program uvx is not found"},
	"brave-brave-search-mcp-server":            missing("BRAVE_API_KEY"),
	"circleci-mcp-server-circleci":             {},
	"cognitionai-metabase-mcp-server":          missing("METABASE_URL"),
	"crlf":                                     {"the script's first line ends in CR LF, so that its program node is not found"},
	"datadog-mcp-server":                       missing("DD_API_KEY"),
	"deepl-mcp-server":                         {"DeepLError: authKey must be a non-empty string"},
	"docker-mcp":                               {"the Docker daemon is not running"},
	"docker-nodaemon":                          {"the Docker daemon is not running"},
	"dopplerhq-mcp-server":                     missing("DOPPLER_TOKEN"),
	"elastic-mcp-server-elasticsearch":         {`"message": "Elasticsearch URL cannot be empty",`},
	"figma-developer-mcp":                      {},
	"firecrawl-mcp":                            {"No FIRECRAWL_API_KEY or FIRECRAWL_API_URL set — running in keyless mode."},
	"heroku-mcp-server":                        {"the server's packages do not fit together: there is no /srv/mcp/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp"},
	"hubspot-mcp-server":                       missing("PRIVATE_APP_ACCESS_TOKEN"),
	"line-line-bot-mcp-server":                 missing("CHANNEL_ACCESS_TOKEN"),
	"linear-mcp-server":                        missing("LINEAR_API_KEY"),
	"mcp-mongo-server":                         missing("MCP_MONGODB_URI"),
	"modelcontextprotocol-server-brave-search": missing("BRAVE_API_KEY"),
	"modelcontextprotocol-server-gitlab":       missing("GITLAB_PERSONAL_ACCESS_TOKEN"),
	"modelcontextprotocol-server-google-maps":  missing("GOOGLE_MAPS_API_KEY"),
	"modelcontextprotocol-server-postgres":     {"Please provide a database URL as a command-line argument"},
	"modelcontextprotocol-server-redis":        {"nothing listens at 127.0.0.1:6379"},
	"modelcontextprotocol-server-slack":        missing("SLACK_BOT_TOKEN"),
	"node-cjs-nomodule":                        {"the module @modelcontextprotocol/sdk/server/mcp.js is missing"},
	"node-esm-nomodule":                        {"the module @modelcontextprotocol/sdk is missing"},
	"node-nofile":                              {"the file /srv/mcp/build/index.js does not exist"},
	"node-ts":                                  {"SyntaxError: Missing initializer in const declaration"},
	"npm-404":                                  {"the npm registry has no package @modelcontextprotocol/server-filesytem"},
	"npm-dns":                                  {"npm cannot reach its registry (ENOTFOUND)"},
	"npm-etarget":                              {"the npm registry has no such version: @modelcontextprotocol/server-memory@99.0.0"},
	"npm-noexe":                                {"the npm package has no program to run"},
	"npm-refused":                              {"npm cannot reach its registry (ECONNREFUSED)"},
	"port-taken":                               {"port 3000 is in use"},
	"py-chained":                               {"/srv/mcp/config.toml does not exist"},
	"py-connect":                               {"ConnectionRefusedError: [Errno 111] Connection refused"},
	"py-keyerror":                              missing("NOTION_TOKEN"),
	"py-module-m":                              {"the Python module mcp_server_git is missing"},
	"py-nofile":                                {"the file /srv/mcp/server.py does not exist"},
	"py-nomodule":                              {"the Python module mcp is missing"},
	"py-syntax":                                {"SyntaxError: expected ':'"},
	"resend-mcp":                               missing("RESEND_API_KEY"),
	"sentry-mcp-server":                        missing("SENTRY_ACCESS_TOKEN"),
	"sh-uvx":                                   {"the program uvx is not found"},
	"ssh-mcp":                                  {"No config file found and missing required --host/--user."},
	"stripe-mcp":                               missing("STRIPE_SECRET_KEY"),
	"stripe-mcp-badkey":                        {"Invalid API key format. Expected sk_* (secret key) or rk_* (restricted key)."},
	"supabase-mcp-server-supabase":             missing("SUPABASE_ACCESS_TOKEN"),
	"tavily-mcp":                               {"[tavily-mcp] no TAVILY_API_KEY set; running in keyless mode."},
	"todoist-mcp":                              missing("API_KEY"),
	"upstash-mcp-server":                       missing("UPSTASH_EMAIL"),
	"upstash-mcp-server-dns":                   {"the host api.upstash.com is not found"},
	"webflow-mcp-server":                       missing("WEBFLOW_TOKEN"),
	"wrong-node":                               {"the server wants another version of Node (Unsupported engine"},
	"xeroapi-xero-mcp-server":                  {"Error: Environment Variables not set - please check your .env file"},
}

// What programs wrote that did not start, and why that was.
func TestReasonsOfRealStderr(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "stderr", "*.txt"))
	if err != nil || len(files) != len(wanted) {
		t.Fatalf("%d files, %d are judged: %v", len(files), len(wanted), err)
	}
	for _, file := range files {
		want, ok := wanted[strings.TrimSuffix(filepath.Base(file), ".txt")]
		said, err := os.ReadFile(file)
		if err != nil || !ok {
			t.Errorf("%s is not judged: %v", file, err)
			continue
		}
		var lines []string
		for l := range strings.Lines(string(said)) {
			if l = strings.TrimSpace(l); l != "" {
				lines = append(lines, l)
			}
		}
		r := Explain(lines, nil)
		for _, l := range r.Shown {
			if strings.Contains(l, "\x1b") {
				t.Errorf("%s: %q is shown", file, l)
			}
		}
		if !strings.HasPrefix(r.Why(), want[0]) || want[0] == "" && r.Why() != "" || r.Object != want[1] {
			t.Errorf("%s:\nis   %q %q\nwant %q %q", file, r.Why(), r.Object, want[0], want[1])
		}
		if len(r.Shown) > 7 || r.Line != "" && !slices.Contains(r.Shown, r.Line) || len(r.Shown) == 0 {
			t.Errorf("%s: %d lines are shown, without or beside %q:\n%s", file, len(r.Shown), r.Line, strings.Join(r.Shown, "\n"))
		}
	}
}

// Of a long help text the first line, and the one that names the variable, and the end; nothing in between.
func TestALongHelpTextIsCutBelowItsReason(t *testing.T) {
	t.Parallel()
	said, err := os.ReadFile(filepath.Join("testdata", "stderr", "sentry-mcp-server.txt"))
	require.NoError(t, err)
	got := Explain(strings.Split(string(said), "\n"), nil).Shown
	if len(got) != 6 || got[0] != "Error: No access token was provided." || !strings.Contains(got[1], "SENTRY_ACCESS_TOKEN") || got[2] != "…" {
		t.Errorf("%q", got)
	}
}
