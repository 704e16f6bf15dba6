package failure

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON is the error as scripts see it: an object with kind, code, message, cause, status and url, null for what there is
// not, and with the data of a JSON-RPC error that has some and what was asked. The message says where, what, and what to do, in one line.
func (e *Error) JSON() []byte {
	type body struct {
		Kind    Kind            `json:"kind"`
		Code    *int64          `json:"code"`
		Message string          `json:"message"`
		Reason  string          `json:"reason,omitempty"`
		Cause   *string         `json:"cause"`
		Status  *int            `json:"status"`
		URL     *string         `json:"url"`
		Data    json.RawMessage `json:"data,omitempty"`
		Asked   json.RawMessage `json:"asked,omitempty"`
	}
	said := *e
	// Code and detail have members of their own; in the message they would be there twice.
	said.Code, said.Detail = nil, ""
	b := body{Kind: e.Kind, Code: e.Code, Message: said.Error(), Reason: e.Reason, Asked: e.Asked}
	var causes []string
	if d := strings.TrimSpace(e.Detail); d != "" {
		causes = append(causes, d)
	}
	if e.Err != nil && e.Err.Error() != e.Message && !strings.Contains(e.Message, e.Err.Error()) {
		causes = append(causes, e.Err.Error())
	}
	if c := strings.Join(causes, "\n"); c != "" {
		b.Cause = &c
	}
	if e.Status != 0 {
		b.Status = &e.Status
	}
	if e.URL != "" {
		b.URL = &e.URL
	}
	if (e.Code != nil || e.Kind == Assertion) && json.Valid(e.Data) {
		b.Data = e.Data
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil { // texts, numbers and what is valid JSON always can be
		return []byte(`{"kind":"` + string(e.Kind) + `","code":null,"message":"the error could not be written as JSON","cause":null,"status":null,"url":null}`)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}
