package importer

// The types of HTTP archives, version 1.2 (http://www.softwareishard.com/blog/har-12-spec), as far as recorded MCP traffic needs them.
// Members that begin with an underscore are ours, which the format allows.

// HAREntry is one HTTP request with its response.
type HAREntry struct {
	Started  string      `json:"startedDateTime"` // ISO 8601
	Time     float64     `json:"time"`            // milliseconds, all of Timings
	Request  HARRequest  `json:"request"`
	Response HARResponse `json:"response"`
	Cache    struct{}    `json:"cache"`
	Timings  HARTimings  `json:"timings"`
	Comment  string      `json:"comment,omitempty"`

	Type   string     `json:"_resourceType,omitzero"` // what browsers filter by: "fetch"
	Server string     `json:"_server,omitzero"`       // name of the MCP server
	Conn   uint64     `json:"_connection,omitzero"`   // which connection to it, from 1
	Hop    string     `json:"_hop,omitzero"`          // who recorded it
	From   string     `json:"_from,omitzero"`         // "server" for what the server sent, which the request's body then is
	Made   bool       `json:"_synthetic,omitzero"`    // no HTTP was spoken for this: the messages are what there was
	Again  bool       `json:"_again,omitzero"`        // the same message once more, after the request before was refused
	Frames []HARFrame `json:"_frames,omitzero"`       // of the messages in the response, in order
	Ended  *HAREnded  `json:"_ended,omitzero"`        // of a request that ended without an answer
}

// HARFrame is what HTTP does not say of a message in a response.
type HARFrame struct {
	Time string `json:"time"`           // when it came, with nanoseconds
	From string `json:"from,omitempty"` // "client" for what the client said meanwhile
}

// HAREnded is how a request ended without an answer.
type HAREnded struct {
	Time   string `json:"time"`
	Status string `json:"status"` // cancelled or error
	Note   string `json:"note,omitempty"`
}

// HARRequest is what was sent.
type HARRequest struct {
	Method      string       `json:"method"`
	URL         string       `json:"url"`
	HTTPVersion string       `json:"httpVersion"`
	Cookies     []HARPair    `json:"cookies"`
	Headers     []HARPair    `json:"headers"`
	QueryString []HARPair    `json:"queryString"`
	PostData    *HARPostData `json:"postData,omitempty"`
	HeadersSize int          `json:"headersSize"` // -1 if not known
	BodySize    int          `json:"bodySize"`
}

// HARResponse is what came back. Its status is 0 if nothing did.
type HARResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []HARPair  `json:"cookies"`
	Headers     []HARPair  `json:"headers"`
	Content     HARContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int        `json:"bodySize"`
	Error       string     `json:"_error,omitempty"` // Chrome's member too
}

// HARPair is a header, a cookie or a parameter.
type HARPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HARPostData is the body of a request.
type HARPostData struct {
	MimeType string `json:"mimeType"`
	Text     string `json:"text"`
}

// HARContent is the body of a response.
type HARContent struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "base64" or none
}

// HARTimings are milliseconds.
type HARTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}
