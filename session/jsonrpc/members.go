package jsonrpc

import "github.com/go-json-experiment/json/jsontext"

// Members walks the top-level members of the object obj in wire order and hands each to f: the name unescaped, the
// value as a sub-slice of obj. It stops early, without error, when f returns false. Nothing after obj's closing brace is
// looked at. Names may repeat; what that means is the caller's business.
func Members(obj []byte, f func(key string, value []byte) bool) error {
	_, err := members(obj, func(key, value []byte) bool { return f(name(key), value) })
	return err
}

// members is Members with the names still quoted; it returns the index after the last byte that it looked at.
func members(b []byte, f func(key, value []byte) bool) (int, error) {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return i, syntax(b, i, "an object")
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, syntax(b, i, "a member name")
		}
		end, err := str(b, i+1)
		if err != nil {
			return end, err
		}
		key := b[i:end]
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return i, syntax(b, i, "a colon")
		}
		i = space(b, i+1)
		if end, err = skip(b, i); err != nil {
			return end, err
		}
		if !f(key, b[i:end:end]) {
			return end, nil
		}
		if i = space(b, end); i < len(b) && b[i] == '}' {
			return i + 1, nil
		}
		if i >= len(b) || b[i] != ',' {
			return i, syntax(b, i, "a comma or the end of the object")
		}
		i = space(b, i+1)
	}
}

// Elements walks the elements of the array arr in order, each as a sub-slice of arr. It stops early, without error, when
// f returns false.
func Elements(arr []byte, f func(value []byte) bool) error {
	i := space(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return syntax(arr, i, "an array")
	}
	if i = space(arr, i+1); i < len(arr) && arr[i] == ']' {
		return nil
	}
	for {
		end, err := skip(arr, i)
		if err != nil {
			return err
		}
		if !f(arr[i:end:end]) {
			return nil
		}
		if i = space(arr, end); i < len(arr) && arr[i] == ']' {
			return nil
		}
		if i >= len(arr) || arr[i] != ',' {
			return syntax(arr, i, "a comma or the end of the array")
		}
		i = space(arr, i+1)
	}
}

// String unquotes a JSON string as Members and Elements hand it out; false when raw is not a string. Lone surrogates
// become U+FFFD, as everywhere in Go.
func String(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if end, err := str(raw, 1); err != nil || end != len(raw) {
		return "", false
	}
	return unquote(raw), true
}

// name is unquote for member names; the ones that every list repeats are not allocated again.
func name(quoted []byte) string {
	switch string(quoted[1 : len(quoted)-1]) {
	case "name":
		return "name"
	case "title":
		return "title"
	case "description":
		return "description"
	case "inputSchema":
		return "inputSchema"
	case "outputSchema":
		return "outputSchema"
	case "annotations":
		return "annotations"
	case "type":
		return "type"
	case "text":
		return "text"
	case "uri":
		return "uri"
	case "mimeType":
		return "mimeType"
	case "_meta":
		return "_meta"
	}
	return unquote(quoted)
}

// unquote decodes a string that str has already accepted.
func unquote(quoted []byte) string {
	body := quoted[1 : len(quoted)-1]
	for _, c := range body {
		if c == '\\' || c >= 0x80 {
			// The only error left is text that is not UTF-8, for which the decoded bytes still carry U+FFFD.
			out, _ := jsontext.AppendUnquote(nil, quoted)
			return string(out)
		}
	}
	return string(body)
}
