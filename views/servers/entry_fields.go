package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
)

// entryForm is an entry of a configuration as a form has it, whatever file it is in.
type entryForm struct {
	Name           string            `json:"name"`
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	EnvFile        string            `json:"envFile,omitempty"`
	Cwd            string            `json:"cwd,omitempty"`
	URL            string            `json:"url,omitempty"`
	Transport      string            `json:"transport,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	HeadersHelper  []string          `json:"headersHelper,omitempty"`
	Proxy          string            `json:"proxy,omitempty"`
	CA             string            `json:"ca,omitempty"`
	ClientCert     string            `json:"clientCert,omitempty"`
	ClientKey      string            `json:"clientKey,omitempty"`
	Insecure       bool              `json:"insecure,omitempty"`
	Protocol       string            `json:"protocol,omitempty"`
	Roots          []string          `json:"roots,omitempty"`
	Timeout        string            `json:"timeout,omitempty"`
	MaxTimeout     string            `json:"maxTimeout,omitempty"`
	ConnectTimeout string            `json:"connectTimeout,omitempty"`
	NoReconnect    bool              `json:"noReconnect,omitempty"`
	Disabled       bool              `json:"disabled,omitempty"`
}

// entryValue is a server as the value of the form.
func entryValue(s config.Server) ([]byte, error) {
	f := entryForm{
		Name: nameInFile(s), Command: s.Command, Args: s.Args, Env: s.Env, EnvFile: s.EnvFile, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers,
		HeadersHelper: s.HeadersHelper, Proxy: s.Proxy, CA: s.CA, ClientCert: s.ClientCert, ClientKey: s.ClientKey, Insecure: s.Insecure,
		Protocol: s.Protocol, Roots: s.Roots, Timeout: duration(s.Timeout), MaxTimeout: duration(s.MaxTimeout),
		ConnectTimeout: duration(s.ConnectTimeout), NoReconnect: s.NoReconnect, Disabled: s.Disabled,
	}
	if s.Command == "" {
		f.Transport = s.Transport
	}
	return json.Marshal(f)
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// entryServer is what a server becomes by the value of the form. What the form does not have stays as it is.
func entryServer(s config.Server, value []byte) (config.Server, error) {
	var f entryForm
	if err := json.Unmarshal(value, &f); err != nil {
		return s, fmt.Errorf("the entry has not the form of one: %w", err)
	}
	s.Name, s.Given, s.Unnamed = f.Name, "", false
	s.Command, s.Args, s.Env, s.EnvFile, s.Cwd = f.Command, f.Args, f.Env, f.EnvFile, f.Cwd
	s.URL, s.Headers, s.HeadersHelper = f.URL, f.Headers, f.HeadersHelper
	s.Proxy, s.CA, s.ClientCert, s.ClientKey, s.Insecure = f.Proxy, f.CA, f.ClientCert, f.ClientKey, f.Insecure
	s.Protocol, s.Roots, s.NoReconnect, s.Disabled = f.Protocol, f.Roots, f.NoReconnect, f.Disabled
	for _, d := range []struct {
		to   *time.Duration
		text string
	}{{&s.Timeout, f.Timeout}, {&s.MaxTimeout, f.MaxTimeout}, {&s.ConnectTimeout, f.ConnectTimeout}} {
		*d.to = 0
		if d.text != "" {
			n, err := time.ParseDuration(d.text)
			if err != nil || n < 0 {
				return s, fmt.Errorf("%q is not a duration; write it like 30s or 2m", text.Clip(d.text, 40))
			}
			*d.to = n
		}
	}
	switch {
	case s.Launch && s.Command != "" && s.URL != "":
	case s.Command != "" && s.URL != "":
		return s, fmt.Errorf("an entry has a command or a url, not both")
	case s.Command == "" && s.URL == "":
		return s, fmt.Errorf("the entry has neither a command nor a url")
	case s.Command != "":
		s.Transport = config.Stdio
	default:
		s.Transport = f.Transport
	}
	return s, nil
}

const (
	textField  = `{"type":"string"`
	timeFormat = `"pattern":"^([0-9.]+(ms|s|m|h))+$","examples":["30s"]`
)

// entrySchema is the form of an entry: first what it starts or contacts. What holds a secret as it is written is hidden.
func entrySchema(s config.Server) []byte {
	var b strings.Builder
	put := func(name, field string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, field)
	}
	about := func(kind, text string) string { return kind + `,"description":` + string(jsonrpc.Quote(text)) + `}` }
	masked := s.Masked()
	put("name", about(textField+`,"minLength":1`, "what the server is called in the file"))
	if s.Command != "" {
		put("command", about(textField+`,"minLength":1`, "the program that is started, without a shell"))
		put("args", about(`{"type":"array",`+hiddenItems(s.Args, masked.Args)+`"items":`+textField+`}`, "its arguments, one each"))
		put("env", about(`{"type":"object",`+hiddenMembers(s.Env, masked.Env)+`"additionalProperties":`+textField+`}`, "variables of its environment; ${NAME} is taken from yours"))
		put("envFile", about(textField, "a file of further variables"))
		put("cwd", about(textField, "the folder it runs in"))
	} else {
		put("url", about(textField+hidden(s.URL, masked.URL)+`,"minLength":1`, "where the server is"))
		put("transport", about(textField+`,"enum":["`+strings.Join(config.URLTransports(), `","`)+`"]`, "auto finds out"))
		put("headers", about(`{"type":"object",`+hiddenMembers(s.Headers, masked.Headers)+`"additionalProperties":`+textField+`}`, "headers of every request; ${NAME} is a variable"))
		put("headersHelper", about(`{"type":"array","items":`+textField+`}`, "a program with its arguments that prints further headers"))
		put("proxy", about(textField+hidden(s.Proxy, masked.Proxy), "what requests go through; "+config.NoProxy+" for none"))
		put("ca", about(textField, "a file by which the host is trusted"))
		put("clientCert", about(textField, "a file by which the server knows you"))
		put("clientKey", about(textField, "the key of that, where it is in another file"))
		put("insecure", about(`{"type":"boolean"`, "take any certificate"))
	}
	put("protocol", about(textField, "a revision such as 2025-11-25; auto negotiates"))
	put("roots", about(`{"type":"array","items":`+textField+`}`, "folders that the server is told when it asks"))
	put("timeout", about(textField+","+timeFormat, "of a request; progress restarts it; "+config.DefaultTimeout.String()+" unless said"))
	put("maxTimeout", about(textField+","+timeFormat, "of a request, whatever its progress; "+config.DefaultMaxTimeout.String()+" unless said"))
	put("connectTimeout", about(textField+","+timeFormat, "of connecting; "+config.Server{Command: s.Command}.ConnectLimit().String()+" unless said"))
	put("noReconnect", about(`{"type":"boolean"`, "do not connect again by itself"))
	put("disabled", about(`{"type":"boolean"`, "do not use the server"))
	required := `"name","command"`
	if s.Command == "" {
		required = `"name","url"`
	}
	return []byte(`{"type":"object","required":[` + required + `],"properties":{` + b.String() + `}}`)
}

// hidden draws a field as dots whose value is a secret as it is written, and no variable.
func hidden(value, masked string) string {
	if value == masked || strings.ContainsAny(value, "{}") {
		return ""
	}
	return `,"writeOnly":true,"format":"password"`
}

func hiddenMembers(values, masked map[string]string) string {
	var out []string
	secret := false
	for _, k := range slices.Sorted(maps.Keys(values)) {
		h := hidden(values[k], masked[k])
		secret = secret || h != ""
		out = append(out, string(jsonrpc.Quote(k))+":"+textField+h+"}")
	}
	if !secret {
		return ""
	}
	return `"properties":{` + strings.Join(out, ",") + `},`
}

func hiddenItems(values, masked []string) string {
	var out []string
	last := 0
	for i, v := range values {
		h := hidden(v, masked[i])
		if out = append(out, textField+h+"}"); h != "" {
			last = i + 1
		}
	}
	if last == 0 {
		return ""
	}
	return `"prefixItems":[` + strings.Join(out[:last], ",") + `],`
}
