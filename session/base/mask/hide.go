package mask

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// options of reading and writing: what a server sends is not always what it should be, and stays so.
func options() []jsontext.Options {
	return []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)}
}

// Hide is a JSON value with mask.Hidden in the place of each secret, and the JSON pointers of these places. Of a text only the
// secret part is replaced. Everything else stays as it is, but for blanks. What cannot be looked into is hidden as a whole, with the
// pointer "". An empty value stays empty.
func (r Rule) Hide(value []byte) (out []byte, places []string) {
	if len(bytes.TrimSpace(value)) == 0 {
		return nil, nil
	}
	if !r.whole {
		if out, places, err := r.hide(value); err == nil {
			return out, places
		}
	}
	return jsonrpc.Quote(Hidden), []string{""}
}

// hide is Hide by the rule's names and looks. It copies the value token by token, so that one that is not JSON to its end is an error, and
// nothing of it is shown.
func (r Rule) hide(value []byte) (_ []byte, places []string, err error) {
	var b bytes.Buffer
	in, out := jsontext.NewDecoder(bytes.NewReader(value), options()...), jsontext.NewEncoder(&b, options()...)
	for {
		kind, secret := in.PeekKind(), false
		if k, n := in.StackIndex(in.StackDepth()); k == '{' && n%2 == 1 && kind != '}' { // the value of a member
			pointer := in.StackPointer()
			secret = r.isSecretName(pointer.LastToken())
		}
		switch {
		case secret && (kind == '{' || kind == '[' || kind == '"' || kind == '0'):
			if v, err := in.ReadValue(); err != nil {
				return nil, nil, err
			} else if string(v) == `""` {
				err = out.WriteValue(v)
				if err != nil {
					return nil, nil, err
				}
				continue
			}
			places = append(places, string(in.StackPointer()))
			err = out.WriteToken(jsontext.String(Hidden))
		case kind == '0' && len(r.sent) > 0: // what was sent as a secret may have been a number
			var v jsontext.Value
			if v, err = in.ReadValue(); err != nil {
				return nil, nil, err
			}
			if slices.Contains(r.sent, string(v)) {
				places = append(places, string(in.StackPointer()))
				v = jsonrpc.Quote(Hidden)
			}
			err = out.WriteValue(v)
		case kind == '"' && !name(in):
			var v jsontext.Value
			if v, err = in.ReadValue(); err != nil {
				return nil, nil, err
			}
			s, _ := jsonrpc.String(v)
			if clean, hidden := r.text(s); hidden {
				places = append(places, string(in.StackPointer()))
				v = jsonrpc.Quote(clean)
			}
			err = out.WriteValue(v)
		default:
			var t jsontext.Token
			if t, err = in.ReadToken(); errors.Is(err, io.EOF) {
				return bytes.TrimSuffix(b.Bytes(), []byte("\n")), places, nil
			} else if err == nil {
				err = out.WriteToken(t)
			}
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// name reports whether what comes next is the name of a member.
func name(in *jsontext.Decoder) bool {
	k, n := in.StackIndex(in.StackDepth())
	return k == '{' && n%2 == 0
}

// text is a string without what is secret in it; one that is JSON itself is looked into.
func (r Rule) text(s string) (clean string, hidden bool) {
	if t := strings.TrimSpace(s); len(t) > 1 && (t[0] == '{' || t[0] == '[') {
		if out, places, err := (Rule{names: r.names, sent: r.sent}).hide([]byte(t)); err == nil {
			if len(places) == 0 {
				return s, false
			}
			return string(out), true
		}
	}
	clean = r.Clean(s)
	return clean, clean != s
}
