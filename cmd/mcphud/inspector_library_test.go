package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// library is a server over HTTP that has one skill, and a tool.
type library struct{}

func (library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	id, at := jsonrpc.Get(body, "id"), jsonrpc.GetString(body, "params", "uri")
	if id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	const skill = `{"uri":"skill://lib/good/SKILL.md","frontmatter":{"name":"good","description":"About it"},"resources":"dynamic"}`
	answer, known := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"tools":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}},` +
			`"serverInfo":{"name":"library","version":"1"}}`,
		"tools/list":               `{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}`,
		"tools/call":               `{"content":[]}`,
		"resources/directory/read": `{"resources":[]}`,
		"skills/list":              `{"skills":[` + skill + `]}`,
		"skills/get":               `{"skill":` + skill + `}`,
		"resources/read":           `{"contents":[{"uri":` + string(jsonrpc.Quote(at)) + `,"text":"a"}]}`,
	}[jsonrpc.GetString(body, "method")]
	w.Header().Set("Content-Type", "application/json")
	if !known {
		_, _ = w.Write(jsonrpc.NewError(id, jsonrpc.CodeMethodNotFound, "no such method", nil))
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, answer)
}
