package offer

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// appURI is the page of a tool that is shown as an app (MCP Apps, SEP-1865), by the _meta of its definition: ui.resourceUri, or
// the member "ui/resourceUri" of earlier drafts. "" if it has none.
func appURI(meta []byte) string {
	if uri := jsonrpc.GetString(jsonrpc.Get(meta, "ui"), "resourceUri"); uri != "" {
		return uri
	}
	return jsonrpc.GetString(meta, "ui/resourceUri")
}

// AppTerms are what the page of an app, or the tool that has one, says of itself in _meta.ui: a label and a value each. meta is
// _meta of a tool, of a resource, or of what reading one gave; nil where it is not about an app.
func AppTerms(meta []byte) (out [][2]string) {
	ui := jsonrpc.Get(meta, "ui")
	if old := jsonrpc.GetString(meta, "ui/resourceUri"); old != "" {
		out = append(out, [2]string{"app page", old + " (by the older name ui/resourceUri)"})
	}
	_ = jsonrpc.Members(ui, func(key string, value []byte) bool { // anything else has no terms
		switch key {
		case "resourceUri":
			out = append(out, [2]string{"app page", plain(value)})
		case "csp":
			out = append(out, cspTerms(value)...)
		case "permissions":
			out = append(out, [2]string{"permissions", keys(value)})
		default:
			out = append(out, [2]string{text.Clip(key, 40), plain(value)})
		}
		return len(out) < 40
	})
	return out
}

// cspTerms are the origins that a page may use, of which it may use none by default.
func cspTerms(csp []byte) (out [][2]string) {
	_ = jsonrpc.Members(csp, func(key string, value []byte) bool {
		var origins []string
		if err := jsonrpc.Elements(value, func(v []byte) bool {
			origins = append(origins, plain(v))
			return len(origins) < 50
		}); err != nil {
			origins = []string{plain(value)}
		}
		out = append(out, [2]string{"csp " + strings.TrimSuffix(text.Clip(key, 40), "Domains"), strings.Join(origins, " ")})
		return len(out) < 20
	})
	return out
}

// keys are the names of an object's members in a line, or what is there instead.
func keys(object []byte) string {
	var out []string
	if err := jsonrpc.Members(object, func(key string, _ []byte) bool {
		out = append(out, key)
		return len(out) < 50
	}); err != nil {
		return plain(object)
	}
	return strings.Join(out, ", ")
}

// plain is a value as people write it: strings without quotes, and the strings of an array one after the other.
func plain(value []byte) string {
	if s, ok := jsonrpc.String(value); ok {
		return s
	}
	var out []string
	if jsonrpc.Elements(value, func(v []byte) bool {
		s, ok := jsonrpc.String(v)
		if !ok {
			s = string(v)
		}
		out = append(out, s)
		return len(out) < 50
	}) == nil {
		return strings.Join(out, ", ")
	}
	return text.Clip(string(value), 1000)
}

// Icons are the icons that an object names, a line each with what is said of them, 20 at most. They are never fetched: to fetch one would tell
// whoever serves it that somebody looks, and from where.
func Icons(icons []byte) (out []string) {
	_ = jsonrpc.Elements(icons, func(icon []byte) bool { // anything else names none
		line := []string{jsonrpc.GetString(icon, "src")}
		if strings.HasPrefix(line[0], "data:") {
			line[0] = text.Clip(line[0], 60) + " (" + text.Bytes(len(line[0])) + ")"
		}
		for _, member := range []string{"mimeType", "sizes", "theme"} {
			if v := jsonrpc.Get(icon, member); v != nil {
				line = append(line, plain(v))
			}
		}
		out = append(out, strings.Join(line, " "))
		return len(out) < 20
	})
	return out
}
