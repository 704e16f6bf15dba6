package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// library is a server of skills over HTTP, which has what its entries and files say, whatever is wrong with that.
type library struct {
	entries []string
	files   map[string]string // contents of resources/read, by URI
}

// text adds a file, and is its line of a manifest.
func (l *library) text(uri, body string) string {
	l.files[uri] = fmt.Sprintf(`{"uri":%s,"text":%s}`, jsonrpc.Quote(uri), jsonrpc.Quote(body))
	return manifestLine(uri, body)
}

func manifestLine(uri, body string) string {
	return fmt.Sprintf(`{"uri":%s,"digest":"sha256:%x","size":%d}`, jsonrpc.Quote(uri), sha256.Sum256([]byte(body)), len(body))
}

// skill adds an entry. front is its frontmatter, file its SKILL.md; lines are more of its manifest, which is "dynamic" where the first is.
func (l *library) skill(uri, front, file string, lines ...string) {
	own := l.text(uri, file)
	resources := `"dynamic"`
	if len(lines) == 0 || lines[0] != "dynamic" {
		resources = "[" + strings.Join(append([]string{own}, lines...), ",") + "]"
	}
	l.entry(uri, front, resources)
}

func (l *library) entry(uri, front, resources string) {
	l.entries = append(l.entries, fmt.Sprintf(`{"uri":%s,"frontmatter":%s,"resources":%s}`, jsonrpc.Quote(uri), front, resources))
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	env, id := jsonrpc.GetString(body, "method"), jsonrpc.Get(body, "id")
	if id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	at := jsonrpc.GetString(body, "params", "uri")
	answer := `"error":{"code":-32602,"message":"no such thing"}`
	switch env {
	case "initialize":
		answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"tools":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}},"serverInfo":{"name":"library","version":"1"}}`
	case "tools/list":
		answer = `"result":{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		answer = `"result":{"content":[]}`
	case "resources/directory/read":
		answer = `"result":{"resources":[]}`
	case "skills/list":
		answer = `"result":{"skills":[` + strings.Join(l.entries, ",") + `]}`
	case "skills/get":
		for _, e := range l.entries {
			if jsonrpc.GetString([]byte(e), "uri") == at {
				answer = `"result":{"skill":` + e + `}`
			}
		}
	case "resources/read":
		if c, ok := l.files[at]; ok {
			answer = `"result":{"contents":[` + c + `]}`
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, answer)
}

func frontOf(name string) string { return fmt.Sprintf(`{"name":%q,"description":"About it"}`, name) }

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: About it\n---\n\n# It\n"
}

// wrongSkills is a library in which something is wrong with nearly every skill.
func wrongSkills() *library {
	l := &library{files: map[string]string{}}
	at := func(name string) string { return "skill://lib/" + name }
	good := func(name string, lines ...string) {
		l.skill(at(name)+"/SKILL.md", frontOf(name), skillText(name), lines...)
	}
	blob := "\x00\x01\xff"
	l.files[at("good/b")] = fmt.Sprintf(`{"uri":%q,"blob":%q}`, at("good/b"), base64.StdEncoding.EncodeToString([]byte(blob)))
	good("good", l.text(at("good/a.txt"), "a"), manifestLine(at("good/b"), blob))

	bad := at("bad-files")
	for _, name := range []string{"size", "digest", "plain", "md5", "sizeless", "minus", "half", "twice"} {
		l.text(bad+"/"+name, "x")
	}
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("x")))
	l.files[bad+"/other"] = fmt.Sprintf(`{"uri":%q,"text":"x"}`, bad+"/else")
	l.files[bad+"/base64"] = fmt.Sprintf(`{"uri":%q,"blob":"*"}`, bad+"/base64")
	file := func(name, members string) string { return fmt.Sprintf(`{"uri":%q%s}`, bad+"/"+name, members) }
	good("bad-files",
		file("size", `,"size":2,"digest":"`+sum+`"`), file("digest", `,"size":1,"digest":"sha256:`+strings.Repeat("0", 64)+`"`), file("plain", `,"size":1`),
		file("md5", `,"size":1,"digest":"md5:1"`), file("sizeless", `,"digest":"`+sum+`"`), file("minus", `,"size":-1,"digest":"`+sum+`"`), file("half", `,"size":0.5,"digest":"`+sum+`"`),
		file("twice", `,"size":1,"digest":"`+sum+`"`), file("./twice", `,"size":1,"digest":"`+sum+`"`), file("missing", `,"size":1,"digest":"`+sum+`"`), file("nothing", ""),
		file("../good/a.txt", `,"size":1,"digest":"`+sum+`"`), manifestLine(bad+"/other", "x"), manifestLine(bad+"/base64", "x"))

	l.text(at("selfless/SKILL.md"), skillText("selfless"))
	l.entry(at("selfless/SKILL.md"), frontOf("selfless"), "[]")
	l.entry(at("unread/SKILL.md"), frontOf("unread"), "["+manifestLine(at("unread/SKILL.md"), "x")+"]")
	l.entry(at("unread-dynamic/SKILL.md"), frontOf("unread-dynamic"), `"dynamic"`)
	l.skill(at("enc/%53KILL.md"), frontOf("enc"), skillText("enc"))
	l.entries[len(l.entries)-1] = strings.Replace(l.entries[len(l.entries)-1], "%53", "S", 1)
	l.text(at("enc/SKILL.md"), skillText("enc"))
	l.skill("skill:opaque", frontOf("opaque"), skillText("opaque"))
	l.skill("skill:///SKILL.md", frontOf("rootless"), skillText("rootless"))
	l.skill(at("readme.md"), frontOf("readme"), skillText("readme"))
	l.skill("HTTP://Host/up/../web/SKILL.md", frontOf("web"), skillText("web"))
	l.skill(at("folder/SKILL.md"), frontOf("another"), skillText("another"))
	l.skill(at("nameless/SKILL.md"), `{}`, "---\n---\n")
	l.skill(at("empty/SKILL.md"), `{"name":" ","description":""}`, "---\nname: \" \"\ndescription: ''\n---\n")
	l.skill(at("Bad--Name/SKILL.md"), frontOf("Bad--Name"), skillText("Bad--Name"))
	l.skill(at(strings.Repeat("a", 65)+"/SKILL.md"), frontOf(strings.Repeat("a", 65)), skillText(strings.Repeat("a", 65)))
	long := strings.Repeat("\u00e9", 1025)
	l.skill(at("long/SKILL.md"), `{"name":"long","description":"`+long+`"}`, "---\nname: long\ndescription: "+long+"\n---\n")
	for i := range 5 {
		l.skill(at(fmt.Sprint("group/", i, "/same/SKILL.md")), frontOf("same"), skillText("same"))
	}
	l.skill(at("report/SKILL.md"), frontOf("report"), skillText("report"), "dynamic")
	l.skill(at("false-report/SKILL.md"), frontOf("false-report"), skillText("other"), "dynamic")

	matter := func(name, entry, yaml string) {
		l.skill(at(name+"/SKILL.md"), fmt.Sprintf(`{"name":%q,"description":"About it"%s}`, name, entry), fmt.Sprintf("---\nname: %s\ndescription: About it\n%s---\n", name, yaml))
	}
	matter("fields", `,"a":1,"b":[1,{"c":null}],"only-entry":true,"d":"1.0"`, "a: 2\nb: [1, {c: ~}]\nonly-file: x\nd: 1.0\n")
	matter("nested", `,"m":{"a":{"b":1}},"n":1.0,"t":"2024-01-01","e":1e3,"y":"yes"`, "m: {a: {b: 2}}\nn: 1\nt: 2024-01-01\ne: 1000\ny: yes\n")
	matter("repeated", "", "a: 1\na: 2\n")
	matter("anchors", `,"x":{"a":1},"y":{"a":1}`, "x: &x {a: 1}\ny: *x\n")
	matter("comments", "", "# nothing\n")
	l.skill(at("list/SKILL.md"), frontOf("list"), "---\n- a\n---\n")
	l.skill(at("scalar/SKILL.md"), frontOf("scalar"), "---\nword\n---\n")
	l.skill(at("broken/SKILL.md"), frontOf("broken"), "---\na: [\n---\n")
	l.skill(at("absent/SKILL.md"), frontOf("absent"), "# No front matter\n")
	l.skill(at("open/SKILL.md"), frontOf("open"), "---\nname: open\n")
	l.skill(at("spaces/SKILL.md"), frontOf("spaces"), "\ufeff---  \r\nname: spaces\r\ndescription: About it\r\n--- \r\n")
	return l
}

// largeSkills is a library with skills of more, and larger, files than every host takes.
func largeSkills() *library {
	l := &library{files: map[string]string{}}
	const large = "skill://lib/large"
	body := strings.Repeat("x", 10<<20)
	l.skill(large+"/SKILL.md", frontOf("large"), skillText("large"), l.text(large+"/1", body), l.text(large+"/2", body))
	const lying = "skill://lib/lying"
	small := func(name string) string {
		return strings.Replace(l.text(lying+name, body), fmt.Sprint(len(body)), "1", 1)
	}
	l.skill(lying+"/SKILL.md", frontOf("lying"), skillText("lying"), small("/1"), small("/2"), small("/3"))
	const many = "skill://lib/many"
	var lines []string
	for i := range 520 {
		lines = append(lines, l.text(fmt.Sprint(many, "/", i), "x"))
	}
	l.text(many+"/SKILL.md", skillText("many"))
	l.entry(many+"/SKILL.md", frontOf("many"), "["+strings.Join(append(lines, manifestLine(many+"/SKILL.md", skillText("many"))), ",")+"]")
	return l
}

// Skills get the same verdicts, with the same exit codes, whatever is wrong with them.
func TestPeerInspectorVerifies(t *testing.T) {
	t.Parallel()
	peertest.Inspector(t)
	wrong, large := httptest.NewServer(wrongSkills()), httptest.NewServer(largeSkills())
	t.Cleanup(wrong.Close)
	t.Cleanup(large.Close)
	agent := serveAgent(t, "--profile", "everything").url
	exe := ownProgram(t)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"l": map[string]any{"type": "http", "url": wrong.URL + "/mcp", "skillCatalogMaxSkills": 2, "skillCatalogMaxBytes": 200}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"all":             {wrong.URL + "/mcp", "--method", "skills/list"},
		"all as JSON":     {wrong.URL + "/mcp", "--method", "skills/list", "--format", "json", "-q", "--require-digests"},
		"two by the file": {"--config", "l.json", "--method", "skills/list"},
		"three":           {"--config", "l.json", "--method", "skills/list", "--skill-catalog-max-skills", "3", "--skill-catalog-max-bytes", "1000000"},
		"few bytes":       {wrong.URL + "/mcp", "--method", "skills/list", "--skill-catalog-max-bytes", "1"},
		"good":            {wrong.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/good/SKILL.md"},
		"bad":             {wrong.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/bad-files/SKILL.md"},
		"dynamic":         {wrong.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/report/SKILL.md"},
		"no digests":      {wrong.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/report/SKILL.md", "--require-digests"},
		"no such skill":   {wrong.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/none/SKILL.md"},
		"no URI":          {wrong.URL + "/mcp", "--method", "skills/get"},
		"large":           {large.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/large/SKILL.md"},
		"lying":           {large.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/lying/SKILL.md"},
		"many":            {large.URL + "/mcp", "--method", "skills/get", "--uri", "skill://lib/many/SKILL.md"},
		"agent":           {agent, "--method", "skills/list", "--require-digests"},
		"modern":          {agent, "--method", "skills/list", "--protocol-era", "modern"},
		"stdio":           {"-e", asMain + "=1", "--method", "skills/list", "--", exe, "agent", "--stdio", "--ephemeral", "--profile", "everything"},
		"no skills":       append(append([]string{"--method", "skills/list", "--"}, peertest.Everything(t).Command), peertest.Everything(t).Args...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alike(t, map[string]string{"l.json": string(config)}, append([]string{"--verify"}, args...)...)
		})
	}
}
