package live

// section is a part of the specification, by its path in the text of each of the revisions.
type section [5]string

// same is a part that all revisions have at one path.
func same(path string) section { return section{path, path, path, path, path} }

// moved is a part that stands elsewhere since the modern era.
func moved(legacy, modern string) section { return section{legacy, legacy, legacy, legacy, modern} }

var (
	secRequests      = section{"basic/messages#requests", "basic#requests", "basic#requests", "basic#requests", "basic#requests"}
	secResponses     = section{"basic/messages#responses", "basic#responses", "basic#responses", "basic#responses", "basic#responses"}
	secMessages      = section{"basic/messages", "basic#messages", "basic#messages", "basic#messages", "basic#messages"}
	secErrors        = section{"basic/messages#responses", "basic#responses", "basic#responses", "basic#error-responses", "basic#error-codes"}
	secBatch         = section{"basic/messages", "basic#batching", "basic#messages", "basic#messages", "basic/transports/stdio"}
	secStdio         = moved("basic/transports#stdio", "basic/transports/stdio")
	secUTF8          = moved("basic/transports", "basic/transports")
	secInit          = moved("basic/lifecycle#initialization", "basic/versioning#backward-compatibility-with-initialization-based-versions")
	secVersion       = moved("basic/lifecycle#version-negotiation", "basic/versioning#protocol-version-negotiation")
	secCapabilities  = moved("basic/lifecycle#capability-negotiation", "basic#meta")
	secOperation     = moved("basic/lifecycle#operation", "basic#meta")
	secCancel        = moved("basic/utilities/cancellation#behavior-requirements", "basic/patterns/cancellation#behavior-requirements")
	secProgress      = moved("basic/utilities/progress#behavior-requirements", "basic/patterns/progress#behavior-requirements")
	secProgressFlow  = moved("basic/utilities/progress#progress-flow", "basic/patterns/progress#progress-flow")
	secPing          = moved("basic/utilities/ping#behavior-requirements", "changelog")
	secSchema        = section{"basic", "basic#schema", "schema", "schema", "schema"}
	secToolErrors    = same("server/tools#error-handling")
	secTool          = same("server/tools#tool")
	secToolNames     = section{"server/tools#tool", "server/tools#tool", "server/tools#tool", "server/tools#tool-names", "server/tools#tool-names"}
	secOutput        = same("server/tools#tool-result")
	secOutputSchema  = section{"server/tools#tool-result", "server/tools#tool-result", "server/tools#output-schema", "server/tools#output-schema", "server/tools#output-schema"}
	secStructured    = section{"server/tools#tool-result", "server/tools#tool-result", "server/tools#structured-content", "server/tools#structured-content", "server/tools#structured-content"}
	secResourceErr   = same("server/resources#error-handling")
	secSubscribe     = moved("server/resources#subscriptions", "basic/patterns/subscriptions#opening-a-stream")
	secLogging       = same("server/utilities/logging#capabilities")
	secLogLevel      = moved("server/utilities/logging#setting-log-level", "server/utilities/logging#per-request-log-level")
	secPages         = same("server/utilities/pagination#implementation-guidelines")
	secPagesResponse = same("server/utilities/pagination#response-format")
	secRoots         = same("client/roots#root")
	secElicit        = section{"", "", "client/elicitation#security-considerations", "client/elicitation#form-mode-security", "client/elicitation#security-considerations"}
	secSend          = section{"basic/transports#http-with-sse", "basic/transports#sending-messages-to-the-server", "basic/transports#sending-messages-to-the-server", "basic/transports#sending-messages-to-the-server", "basic/transports/streamable-http#sending-messages"}
	secVersionHeader = section{"", "", "basic/transports#protocol-version-header", "basic/transports#protocol-version-header", "basic/transports/streamable-http#protocol-version-header"}
	secHeaders       = moved("", "basic/transports/streamable-http#standard-request-headers")
	secParamHeaders  = moved("", "basic/transports/streamable-http#custom-headers-from-tool-parameters")
	secHeaderMarks   = moved("", "server/tools#x-mcp-header")
	secSession       = section{"", "basic/transports#session-management", "basic/transports#session-management", "basic/transports#session-management", "basic/transports/streamable-http#earlier-streamable-http-revisions"}
	secOrigin        = section{"basic/transports#security-warning", "basic/transports#security-warning", "basic/transports#security-warning", "basic/transports#security-warning", "basic/transports/streamable-http#security-endpoint"}
	secToken         = section{"", "basic/authorization#token-requirements", "basic/authorization#token-requirements", "basic/authorization#token-requirements", "basic/authorization#token-requirements"}
	secLocation      = section{"", "", "basic/authorization#authorization-server-location", "basic/authorization#authorization-server-location", "basic/authorization/authorization-server-discovery"}
	secMeta          = moved("", "basic#meta")
	secResultType    = moved("", "basic#resulttype")
	secRounds        = moved("", "basic/patterns/mrtr#supported-requests")
	secRoundsServer  = moved("", "basic/patterns/mrtr#server-requirements-basic-workflow")
	secRoundsClient  = moved("", "basic/patterns/mrtr#client-requirements-basic-workflow")
	secAck           = moved("", "basic/patterns/subscriptions#acknowledgment")
	secReceiving     = moved("", "basic/patterns/subscriptions#receiving-notifications")
	secRPCStatus     = moved("", "basic/transports/streamable-http#protocol-version-header")
	secDiscover      = moved("", "server/discover")
	secDeprecated    = section{"", "basic/transports#backwards-compatibility", "basic/transports#backwards-compatibility", "client/sampling#capabilities", "deprecated#deprecated"}
	secModernHTTP    = moved("", "basic/transports/streamable-http#earlier-streamable-http-revisions")
)
