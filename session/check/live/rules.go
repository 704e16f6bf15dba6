//go:generate go test -run TestManual -update .

package live

// table is every rule. Its order is that of the generated list in README.md and of a report: how a message is written, who
// answers what, how a session begins, what was negotiated, tools, errors, and HTTP.
var table = []Rule{
	{
		ID: "stdout-noise", Severity: Error, By: Sender, Title: "output that is not a message", spec: secStdio, on: onBad, check: checkNoise,
		Why: "the other side reads messages there: many clients end the connection at the first line that is not JSON",
		Fix: "Write logs to stderr; only JSON-RPC messages belong on stdout and stdin.",
	},
	{
		ID: "http-body", Severity: Error, By: Sender, Title: "body that is not a message", spec: secSend, on: onBad, check: checkBody,
		Why: "the client expects JSON and reports a failure to parse in place of what happened",
		Fix: "Send JSON-RPC messages only as bodies of application/json, and as data of events.",
	},
	{
		ID: "broken-frame", Severity: Error, By: Sender, Title: "message that is cut off or spans lines", spec: secMessages, on: onBad, check: checkCut,
		Why: "messages end at the line break, so that this one is lost and the next may be as well",
		Fix: "Write each message as one line of valid JSON, and escape line breaks in strings as \\n.",
	},
	{
		ID: "not-utf8", Severity: Error, By: Sender, Title: "message that is not UTF-8", First: rev2503, spec: secUTF8, on: onBad, check: checkUTF8,
		Why: "JSON parsers refuse the whole message, or show other characters than were meant",
		Fix: "Encode messages as UTF-8; replace bytes that are not text before they are put into a string.",
	},
	{
		ID: "batch", Severity: Error, By: Sender, Title: "batch where the revision has none", spec: secBatch, on: onBad, check: checkBatch,
		Why: "clients of the revision parse one object for each message, and drop an array",
		Fix: "Send each message by itself; only revision 2025-03-26 has batches.",
	},
	{
		ID: "jsonrpc-version", Severity: Error, By: Sender, Title: "message that does not say jsonrpc 2.0", spec: secMessages, on: onBad, check: checkVersionMember,
		Why: "JSON-RPC libraries drop the message without an answer, and the other side waits until its timeout",
		Fix: `Put "jsonrpc":"2.0" into every message.`,
	},
	{
		ID: "duplicate-member", Severity: Error, By: Sender, Title: "member given twice or in another case", spec: secMessages, on: onBad, check: checkDuplicate,
		Why: "one parser takes the first member, another the last: two programs read two messages",
		Fix: "Write each of jsonrpc, id, method, params, result and error at most once, in lower case.",
	},
	{
		ID: "result-and-error", Severity: Error, By: Sender, Title: "answer with both a result and an error", spec: secResponses, on: onBad, check: checkBoth,
		Why: "some clients report a failure, others a success, for the same call", Fix: "Send either result or error.",
	},
	{
		ID: "no-result", Severity: Error, By: Sender, Title: "answer with neither result nor error", spec: secResponses, on: onBad, check: checkNeither,
		Why: "the client cannot tell success from failure, and libraries drop the answer",
		Fix: "Send a result, {} if there is nothing to say.",
	},
	{
		ID: "id-null", Severity: Error, By: Sender, Title: "id null", spec: secRequests, on: onBad, check: checkNullID,
		Why: "nobody can tell which request it belongs to", Fix: "Give requests a string or an integer as id, and repeat it in the answer.",
	},
	{
		ID: "id-missing", Severity: Error, By: Sender, Title: "result without an id", spec: secResponses, on: onBad, check: checkMissingID,
		Why: "nobody can tell which request it answers, and the caller waits until its timeout",
		Fix: "Repeat the id of the request in its answer.",
	},
	{
		ID: "id-type", Severity: Error, By: Sender, Title: "id that is neither string nor integer", spec: secRequests, on: onBad | onRequest, check: checkIDType,
		Why: "clients in typed languages cannot decode the message", Fix: "Use a string or an integer as id.",
	},
	{
		ID: "message-shape", Severity: Error, By: Sender, Title: "object that is not a JSON-RPC message", spec: secMessages, on: onBad, check: checkShape,
		Why: "a client cannot tell what it is, and ignores it or ends the connection",
		Fix: "Send requests, notifications, results and errors as JSON-RPC 2.0 describes them.",
	},
	{
		ID: "schema-request", Severity: Error, By: Sender, Title: "request that breaks the schema", spec: secSchema, on: onRequest, check: checkRequestSchema,
		Why: "a client in a typed language cannot decode it, and answers with an error or not at all",
		Fix: "Send what schema.json of the negotiated revision defines for the method.",
	},
	{
		ID: "schema-notification", Severity: Error, By: Sender, Title: "notification that breaks the schema", spec: secSchema, on: onNotification, check: checkRequestSchema,
		Why: "a client in a typed language cannot decode it, and what it reports is lost",
		Fix: "Send what schema.json of the negotiated revision defines for the method.",
	},
	{
		ID: "schema-result", Severity: Error, By: Sender, Title: "result that breaks the schema", spec: secSchema, on: onResult, check: checkResultSchema,
		Why: "a client in a typed language cannot decode it, and the call fails though the server did its work",
		Fix: "Answer with what schema.json of the negotiated revision defines for the method.",
	},
	{
		ID: "id-reused", Severity: Error, By: Sender, Title: "id that was used before", spec: secRequests, on: onRequest, check: checkReused,
		Why: "the answer may be matched with the other request of that id",
		Fix: "Give each request an id of its own, for example by counting.",
	},
	{
		ID: "id-changed", Severity: Error, By: Sender, Title: "answer whose id changed its type", spec: secResponses, on: onAnswer, check: checkChangedID,
		Why: "clients that compare ids with their type do not find the request, and the call times out",
		Fix: "Repeat the id exactly: 7 is not \"7\".",
	},
	{
		ID: "id-unknown", Severity: Error, By: Sender, Title: "answer to a request that nobody made", spec: secResponses, on: onAnswer, check: checkUnknownID,
		Why: "the answer is dropped, and the request that it was meant for times out", Fix: "Answer requests only, with their id.",
	},
	{
		ID: "answer-twice", Severity: Error, By: Sender, Title: "second answer to a request", spec: secResponses, on: onAnswer, check: checkDuplicateAnswer,
		Why: "the second answer is dropped, or taken for that of another request", Fix: "Send one answer to each request.",
	},
	{
		ID: "answer-late", Severity: Note, By: Sender, Title: "answer to a cancelled request", spec: secCancel, on: onAnswer, check: checkLate,
		Why: "the work was done for nobody",
		Fix: "Send nothing more for a request once its cancellation arrived; what was on its way then is all right.",
	},
	{
		ID: "unanswered", Severity: Warning, By: Receiver, Title: "request without an answer", spec: secResponses, on: onEnd, check: checkUnanswered,
		Why: "the caller waits until its timeout", Fix: "Answer every request, with an error if need be.",
	},
	{
		ID: "early-request", Severity: Error, By: Client, Title: "request before initialize", Last: rev2511, spec: secInit, on: onRequest, check: checkEarly,
		Fix: "Send initialize first.",
	},
	{
		ID: "initialize-twice", Severity: Error, By: Client, Title: "second initialize in one session", Last: rev2511, spec: secInit, on: onRequest, check: checkTwice,
		Fix: "Open a new connection for a new session.",
	},
	{
		ID: "impatient-client", Severity: Warning, By: Client, Title: "message before the answer to initialize", Last: rev2511, spec: secInit, on: onCall, check: checkImpatient,
		Fix: "Wait for the answer to initialize; only ping may be sent before.",
	},
	{
		ID: "not-initialized", Severity: Error, By: Client, Title: "request without notifications/initialized", Last: rev2511, spec: secInit, on: onRequest, check: checkNotInitialized,
		Fix: "Send notifications/initialized after the answer to initialize, before any other request.",
	},
	{
		ID: "impatient-server", Severity: Warning, By: Server, Title: "request to a client that is not ready", Last: rev2511, spec: secInit, on: onRequest, check: checkForward,
		Why: "a client that is not ready yet drops the request or refuses it",
		Fix: "Wait for notifications/initialized before asking the client for anything but ping.",
	},
	{
		ID: "version-unknown", Severity: Warning, By: Sender, Title: "protocol version that was never published", spec: secVersion, on: onRequest | onResult, check: checkVersion,
		Why: "the other side does not know which rules hold, and disconnects",
		Fix: "Use a revision of the specification, such as 2025-11-25.",
	},
	{
		ID: "other-revision", Severity: Error, By: Sender, Title: "method that the revision does not have", spec: secOperation, on: onCall, check: checkOtherEra,
		Why: "the other side does not know the method and answers -32601, or ignores it",
		Fix: "Use the methods of the negotiated revision: its changelog says what replaced this one.",
	},
	{
		ID: "wrong-direction", Severity: Error, By: Sender, Title: "method of the other side", spec: secSchema, on: onCall, check: checkDirection,
		Why: "the other side has nothing that could answer it", Fix: "Send only what the specification defines for your side.",
	},
	{
		ID: "method-unknown", Severity: Note, By: Sender, Title: "method that no revision has", spec: secSchema, on: onCall, check: checkUnknownMethod,
		Why: "nobody answers it but with -32601",
		Fix: "Check the spelling; a method of an extension needs the extension among the capabilities of both sides.",
	},
	{
		ID: "server-request", Severity: Error, By: Server, Title: "request from the server", First: revModern, spec: secSend, on: onRequest, check: checkServerRequest,
		Why: "the revision has no requests of servers: clients drop it, and the server waits for ever",
		Fix: "Ask in the result of the client's own request, with resultType input_required.",
	},
	{
		ID: "capability-unused", Severity: Error, By: Client, Title: "request the server does not offer", spec: secOperation, on: onRequest, check: checkServerCapability,
		Fix: "Look at the server's capabilities before the request; or declare the capability in the server.",
	},
	{
		ID: "capability-empty", Severity: Warning, By: Server, Title: "capability declared and not implemented", spec: secCapabilities, on: onError, check: checkNotImplemented,
		Why: "clients offer the feature to their users, and it fails when it is used",
		Fix: "Implement the method, or do not declare the capability.",
	},
	{
		ID: "client-capability", Severity: Error, By: Server, Title: "request the client does not offer", Last: rev2511, spec: secOperation, on: onRequest, check: checkClientCapability,
		Why: "the client refuses it with -32601, and what needed the answer fails",
		Fix: "Look at the client's capabilities before the request, and do without where they lack it.",
	},
	{
		ID: "list-changed", Severity: Warning, By: Sender, Title: "list_changed that was not announced", spec: secOperation, on: onNotification, check: checkListChanged,
		Why: "clients that looked at the capability do not listen, and go on with the old list",
		Fix: "Declare listChanged in the capability, or do not send the notification.",
	},
	{
		ID: "logging-capability", Severity: Error, By: Server, Title: "log message without the capability", spec: secLogging, on: onNotification, check: checkLogging,
		Why: "clients that looked at the capability do not show the message", Fix: "Declare the capability logging.",
	},
	{
		ID: "log-level", Severity: Warning, By: Server, Title: "log message below the chosen level", spec: secLogLevel, on: onNotification, check: checkLevel,
		Why: "the user gets messages that were turned off, and may overlook the others",
		Fix: "Send messages of the level that was set and of more severe ones.",
	},
	{
		ID: "log-uninvited", Severity: Error, By: Server, Title: "log message that no request asked for", First: revModern, spec: secLogLevel, on: onNotification, check: checkUninvitedLog,
		Why: "clients that did not ask for messages have no place for them",
		Fix: "Send notifications/message only for requests with io.modelcontextprotocol/logLevel in their _meta.",
	},
	{
		ID: "not-subscribed", Severity: Warning, By: Server, Title: "update without any subscription", Last: rev2511, spec: secSubscribe, on: onNotification, check: checkUpdate,
		Why: "no client waits for it, and it costs traffic for each change",
		Fix: "Send notifications/resources/updated after resources/subscribe only.",
	},
	{
		ID: "cancel-initialize", Severity: Error, By: Client, Title: "cancellation of initialize", Last: rev2511, spec: secCancel, on: onNotification, check: checkCancelInitialize,
		Fix: "Close the connection instead.",
	},
	{
		ID: "cancel-unknown", Severity: Error, By: Sender, Title: "cancellation of somebody else's request", spec: secCancel, on: onNotification, check: checkCancelUnknown,
		Why: "what was meant goes on, and the other side cannot tell what to stop",
		Fix: "Cancel requests of your own, by the id that they were sent with.",
	},
	{
		ID: "cancel-server", Severity: Error, By: Server, Title: "cancellation by the server", First: revModern, spec: secCancel, on: onNotification, check: checkServerCancels,
		Why: "clients of the revision wait for an answer, which never comes",
		Fix: "Answer the request with an error; only the stream of subscriptions/listen is ended by notifications/cancelled.",
	},
	{
		ID: "ping-result", Severity: Warning, By: Sender, Title: "answer to ping that is not empty", Last: rev2511, spec: secPing, on: onResult, check: checkPing,
		Why: "clients that check the result take the server for broken", Fix: "Answer ping with an empty object.",
	},
	{
		ID: "progress-token", Severity: Error, By: Sender, Title: "progress for a token that nobody gave", spec: secProgress, on: onNotification, check: checkToken,
		Why: "no call waits for it, so that nobody sees the progress",
		Fix: "Report progress only for requests with a progressToken, with that token.",
	},
	{
		ID: "progress-late", Severity: Error, By: Sender, Title: "progress after the answer", spec: secProgress, on: onNotification, check: checkAfter,
		Why: "the call is over for the client: a bar may come back, or the message is dropped",
		Fix: "Stop reporting progress before the answer is sent.",
	},
	{
		ID: "progress-order", Severity: Error, By: Sender, Title: "progress that does not increase", spec: secProgressFlow, on: onNotification, check: checkIncrease,
		Why: "a bar goes back or stands still, and users take the call for stuck", Fix: "Make progress grow with each notification.",
	},
	{
		ID: "token-reused", Severity: Error, By: Sender, Title: "progress token that is in use", spec: secProgressFlow, on: onRequest, check: checkTokenReused,
		Why: "progress of two calls cannot be told apart", Fix: "Give each request a progress token of its own, for example its id.",
	},
	{
		ID: "cursor-loop", Severity: Error, By: Server, Title: "pages without an end", spec: secPagesResponse, on: onResult, check: checkCursorLoop,
		Why: "clients that read all pages never come to an end", Fix: "Give a new cursor with each page, and none with the last.",
	},
	{
		ID: "cursor-invented", Severity: Warning, By: Client, Title: "cursor that the server did not give", spec: secPages, on: onRequest, check: checkCursor,
		Fix: "Send the nextCursor of the page before, unchanged.",
	},
	{
		ID: "root-uri", Severity: Error, By: Client, Title: "root that is not a file", Last: rev2511, spec: secRoots, on: onResult, check: checkRoots,
		Fix: "Give roots as file:// URIs.",
	},
	{
		ID: "deprecated", Severity: Note, By: Sender, Title: "deprecated feature", First: rev2503, spec: secDeprecated, on: onCall | onResult, check: checkDeprecated,
		Why: "it goes with a later revision, and clients stop to implement it before",
		Fix: "Leave it out of what is new; the specification names what replaces it.",
	},
	{
		ID: "meta-missing", Severity: Error, By: Client, Title: "request without what _meta must say", First: revModern, spec: secMeta, on: onRequest, check: checkMeta,
		Fix: "Put protocolVersion and clientCapabilities into params._meta of every request.",
	},
	{
		ID: "result-type", Severity: Error, By: Server, Title: "result without resultType", First: revModern, spec: secResultType, on: onResult, check: checkResultType,
		Why: "clients of the revision look at it first, and cannot tell an answer from a question",
		Fix: `Put "resultType":"complete" into every result.`,
	},
	{
		ID: "result-type-unknown", Severity: Error, By: Server, Title: "resultType that nobody declared", First: revModern, spec: secResultType, on: onResult, check: checkResultTypeUnknown,
		Why: "the client does not know what to do with the result, and fails",
		Fix: "Use complete or input_required, or that of an extension which both sides declare.",
	},
	{
		ID: "result-type-early", Severity: Note, By: Server, Title: "resultType before it existed", Last: rev2511, spec: secResponses, on: onResult, check: checkResultTypeLegacy,
		Why: "strict clients of earlier revisions refuse a member that they do not know",
		Fix: "Leave resultType out for clients of earlier revisions.",
	},
	{
		ID: "input-method", Severity: Error, By: Server, Title: "question in a method that cannot ask", First: revModern, spec: secRounds, on: onResult, check: checkRounds,
		Why: "clients ask nobody there: the request ends without its result",
		Fix: "Ask in results of tools/call, prompts/get and resources/read only.",
	},
	{
		ID: "input-empty", Severity: Error, By: Server, Title: "question that asks nothing", First: revModern, spec: secRoundsServer, on: onResult, check: checkRoundsEmpty,
		Why: "the client has nothing to ask and nothing to send back, and tries again without an end",
		Fix: "Put inputRequests or requestState into the result.",
	},
	{
		ID: "input-capability", Severity: Error, By: Server, Title: "question that the client cannot answer", First: revModern, spec: secRoundsServer, on: onResult, check: checkRoundsCapability,
		Why: "the client cannot ask its user, and the call fails",
		Fix: "Look at clientCapabilities in the request's _meta; answer -32021 where one is missing.",
	},
	{
		ID: "state-changed", Severity: Error, By: Client, Title: "requestState the server did not give", First: revModern, spec: secRoundsClient, on: onRequest, check: checkState,
		Fix: "Send requestState back exactly as it came.",
	},
	{
		ID: "retry-id", Severity: Error, By: Client, Title: "request made again with the same id", First: revModern, spec: secRoundsClient, on: onRequest, check: checkRetryID,
		Fix: "Give the request with the answers a new id.",
	},
	{
		ID: "subscription-id", Severity: Error, By: Server, Title: "change without its subscription", First: revModern, spec: secReceiving, on: onNotification, check: checkSubscriptionID,
		Why: "a client with several subscriptions cannot tell whose change it is",
		Fix: "Put io.modelcontextprotocol/subscriptionId into _meta of the notification.",
	},
	{
		ID: "subscription-order", Severity: Error, By: Server, Title: "change before the acknowledgement", First: revModern, spec: secAck, on: onNotification, check: checkAck,
		Why: "the client does not know yet what it will be told of, and drops the change",
		Fix: "Send notifications/subscriptions/acknowledged first.",
	},
	{
		ID: "discover", Severity: Error, By: Server, Title: "server/discover is not implemented", First: revModern, spec: secDiscover, on: onError, check: checkDiscover,
		Why: "clients of the revision begin with it, and take the server for one of an earlier era", Fix: "Implement server/discover.",
	},
	{
		ID: "tool-name", Severity: Warning, By: Server, Title: "tool name that breaks the rules", First: rev2511, spec: secToolNames, on: onResult, check: checkToolName,
		Why: "some clients and model providers refuse the tool, or the whole list with it",
		Fix: "Use 1 to 128 of A-Z, a-z, 0-9, _, - and . in names of tools.",
	},
	{
		ID: "tool-twice", Severity: Warning, By: Server, Title: "two tools of one name", spec: secTool, on: onResult, check: checkToolTwice,
		Why: "only one of the two can be called, and which one depends on the client", Fix: "Give each tool a name of its own.",
	},
	{
		ID: "header-mark", Severity: Error, By: Server, Title: "x-mcp-header that is not allowed", First: revModern, spec: secHeaderMarks, on: onResult, check: checkHeaderMarks,
		Why: "clients leave the tool out",
		Fix: "Mark properties of primitive types only, each with a header name of its own; clients leave the tool out.",
	},
	{
		ID: "arguments", Severity: Warning, By: Client, Title: "arguments that break the inputSchema", spec: secTool, on: onRequest, check: checkArguments,
		Fix: "Send what the inputSchema of tools/list describes.",
	},
	{
		ID: "output-schema", Severity: Error, By: Server, Title: "result that breaks the outputSchema", First: rev2506, spec: secOutputSchema, on: onResult, check: checkStructured,
		Why: "clients that validate throw the result away though the tool has run",
		Fix: "Return what the outputSchema describes, or change the schema.",
	},
	{
		ID: "output-missing", Severity: Error, By: Server, Title: "result without structured content", First: rev2506, spec: secOutputSchema, on: onResult, check: checkStructuredMissing,
		Why: "programs that read structuredContent get nothing, and clients that validate report an error",
		Fix: "Return structuredContent, or do not give an outputSchema.",
	},
	{
		ID: "error-flag", Severity: Warning, By: Server, Title: "isError that is written otherwise", spec: secToolErrors, on: onResult, check: checkErrorFlag,
		Why: "clients and models do not know that member, and take the failure for a success", Fix: "Write isError, as the protocol does.",
	},
	{
		ID: "output-text", Severity: Note, By: Server, Title: "structured content without text", First: rev2506, spec: secStructured, on: onResult, check: checkNoText,
		Why: "clients that do not read structuredContent show an empty result",
		Fix: "Put the JSON into a text content as well, for clients that do not read structuredContent.",
	},
	{
		ID: "base64", Severity: Error, By: Server, Title: "binary data that is not base64", spec: secOutput, on: onResult, check: checkBase64,
		Why: "clients cannot decode the picture, sound or file", Fix: "Encode data and blob as standard base64, with padding.",
	},
	{
		ID: "elicit-secret", Severity: Error, By: Server, Title: "form that asks for a secret", First: rev2506, spec: secElicit, on: onRequest, check: checkSecret,
		Why: "the secret passes the client, its logs and perhaps a model; clients that look for it refuse the form",
		Fix: "Ask for passwords, keys and tokens by a URL, or not at all.",
	},
	{
		ID: "input-secret", Severity: Error, By: Server, Title: "question that asks for a secret", First: revModern, spec: secElicit, on: onResult, check: checkRoundsSecret,
		Why: "the secret passes the client, its logs and perhaps a model; clients that look for it refuse the question",
		Fix: "Ask for passwords, keys and tokens by a URL, or not at all.",
	},
	{
		ID: "empty-contents", Severity: Warning, By: Server, Title: "resource without contents", First: revModern, spec: secResourceErr, on: onResult, check: checkEmptyContents,
		Why: "nobody can tell a missing resource from an empty one",
		Fix: "Answer -32602 for a resource that does not exist, and one content with an empty text for an empty one.",
	},
	{
		ID: "error-object", Severity: Error, By: Sender, Title: "error without code or message", spec: secErrors, on: onError, check: checkErrorObject,
		Why: "clients cannot decode the error, and show that in place of what went wrong",
		Fix: "Give errors an integer code and a message that is a string.",
	},
	{
		ID: "error-removed", Severity: Error, By: Server, Title: "error code of an earlier revision", First: revModern, spec: secErrors, on: onError, check: checkRemovedCode,
		Why: "clients of the revision do not know the code, and show a failure in place of what they could do",
		Fix: "Use -32602 for a missing resource, and a question in the result for a URL that has to be visited.",
	},
	{
		ID: "error-reserved", Severity: Error, By: Server, Title: "error code that is reserved", First: revModern, spec: secErrors, on: onError, check: checkReservedCode,
		Why: "JSON-RPC or a later revision may give the code another meaning", Fix: "Take codes of your own from outside -32768 to -32000.",
	},
	{
		ID: "error-legacy", Severity: Note, By: Server, Title: "error code without a meaning", First: revModern, spec: secErrors, on: onError, check: checkLegacyCode,
		Why: "clients know no meaning of the code", Fix: "Take codes of your own from outside -32768 to -32000.",
	},
	{
		ID: "unknown-tool-result", Severity: Warning, By: Server, Title: "unknown tool as a failure of the tool", spec: secToolErrors, on: onResult, check: checkUnknownAsResult,
		Why: "the model is told that the tool failed, and tries it again",
		Fix: "Answer the call of an unknown tool with the JSON-RPC error -32602.",
	},
	{
		ID: "unknown-tool-code", Severity: Warning, By: Server, Title: "unknown tool without -32602", spec: secToolErrors, on: onError, check: checkUnknownCode,
		Why: "clients cannot tell an unknown tool from another failure",
		Fix: "Answer the call of an unknown tool with the JSON-RPC error -32602.",
	},
	{
		ID: "arguments-error", Severity: Note, By: Server, Title: "invalid arguments as a JSON-RPC error", First: rev2511, spec: secToolErrors, on: onError, check: checkArgumentsAsError,
		Why: "the model does not see what was wrong with its arguments, and cannot correct them",
		Fix: "Return a result with isError, so that the model sees what was wrong and can try again.",
	},
	{
		ID: "tool-error", Severity: Note, By: Server, Title: "failure of a tool as a JSON-RPC error", spec: secToolErrors, on: onError, check: checkFailureAsError,
		Why: "clients show a broken server, and the model does not see what went wrong",
		Fix: "Return a result with isError for what went wrong in the tool; errors are for what the server itself cannot do.",
	},
	{
		ID: "http-accept", Severity: Error, By: Client, Title: "POST that does not accept both types", First: rev2503, spec: secSend, on: onPost, check: checkAccept,
		Fix: "Send Accept: application/json, text/event-stream.",
	},
	{
		ID: "http-request-type", Severity: Warning, By: Client, Title: "POST that does not say it is JSON", First: rev2503, spec: secSend, on: onPost, check: checkContentType,
		Fix: "Send Content-Type: application/json.",
	},
	{
		ID: "http-version", Severity: Error, By: Client, Title: "POST without the protocol version", First: rev2506, spec: secVersionHeader, on: onPost, check: checkVersionHeader,
		Fix: "Send MCP-Protocol-Version with every request after the handshake.",
	},
	{
		ID: "http-version-differs", Severity: Error, By: Client, Title: "MCP-Protocol-Version differs", First: rev2506, spec: secVersionHeader, on: onPost, check: checkVersionHeaderSame,
		Fix: "Send the version that was negotiated, or that the body's _meta has.",
	},
	{
		ID: "http-method", Severity: Error, By: Client, Title: "Mcp-Method differs from the body", First: revModern, spec: secHeaders, on: onPost, check: checkMethodHeader,
		Fix: "Repeat the method in the header Mcp-Method.",
	},
	{
		ID: "http-name", Severity: Error, By: Client, Title: "Mcp-Name differs from the body", First: revModern, spec: secHeaders, on: onPost, check: checkNameHeader,
		Fix: "Repeat params.name or params.uri in the header Mcp-Name, as =?base64?…?= where it is not plain ASCII.",
	},
	{
		ID: "http-param", Severity: Error, By: Client, Title: "Mcp-Param headers differ from arguments", First: revModern, spec: secParamHeaders, on: onPost, check: checkParamHeaders,
		Fix: "Repeat the arguments that the inputSchema marks with x-mcp-header.",
	},
	{
		ID: "session-missing", Severity: Error, By: Client, Title: "HTTP request without the session id", First: rev2503, Last: rev2511, spec: secSession, on: onPost, check: checkSessionMissing,
		Fix: "Send the Mcp-Session-Id of the answer to initialize with every request.",
	},
	{
		ID: "session-over", Severity: Error, By: Client, Title: "session used after its end", First: rev2503, Last: rev2511, spec: secSession, on: onPost, check: checkSessionGone,
		Fix: "Send initialize without a session id after a 404.",
	},
	{
		ID: "session-modern-client", Severity: Warning, By: Client, Title: "session id where there are none", First: revModern, spec: secSession, on: onPost, check: checkSessionModern,
		Fix: "Leave Mcp-Session-Id out.",
	},
	{
		ID: "session-modern", Severity: Warning, By: Server, Title: "session id where there are none", First: revModern, spec: secSession, on: onStatus, check: checkSessionModern,
		Why: "the client has no use for it, and proxies that route by it split what belongs together",
		Fix: "Give no Mcp-Session-Id to requests of this revision.",
	},
	{
		ID: "http-verb", Severity: Warning, By: Client, Title: "HTTP method that is not used any more", First: revModern, spec: secModernHTTP, on: onPost, check: checkVerb,
		Fix: "Use POST; subscriptions/listen replaces the stream of GET.",
	},
	{
		ID: "http-cancel", Severity: Note, By: Client, Title: "cancellation by a message", First: revModern, spec: secSend, on: onPost, check: checkCancelHTTP,
		Fix: "Close the response stream of the request.",
	},
	{
		ID: "token-in-query", Severity: Error, By: Client, Title: "access token in the URL", First: rev2503, spec: secToken, on: onPost, check: checkQuery,
		Fix: "Send Authorization: Bearer instead.",
	},
	{
		ID: "http-response-type", Severity: Error, By: Server, Title: "answer of another media type", First: rev2503, spec: secSend, on: onStatus, check: checkResponseType,
		Why: "the client does not know how to read the body, and fails",
		Fix: "Answer requests with Content-Type application/json or text/event-stream.",
	},
	{
		ID: "http-accepted", Severity: Error, By: Server, Title: "request treated as a notification", First: rev2503, spec: secSend, on: onStatus, check: checkAccepted,
		Why: "the client takes it for delivered, and waits for an answer that never comes",
		Fix: "Answer requests with 200 and a body, or an error status.",
	},
	{
		ID: "http-not-accepted", Severity: Error, By: Server, Title: "notification answered without 202", First: rev2503, spec: secSend, on: onStatus, check: checkNotificationStatus,
		Why: "clients that check the status report a failure of something that was delivered",
		Fix: "Answer notifications and answers with 202 Accepted.",
	},
	{
		ID: "http-accepted-body", Severity: Error, By: Server, Title: "202 with a body", First: rev2503, spec: secSend, on: onStatus, check: checkAcceptedBody,
		Why: "clients do not read it, and a connection with unread bytes cannot be used again", Fix: "Send no body with 202 Accepted.",
	},
	{
		ID: "http-error-status", Severity: Error, By: Server, Title: "HTTP status that contradicts the error", First: revModern, spec: secRPCStatus, on: onError, check: checkErrorStatus,
		Why: "clients and proxies that look at the status take the failure for another one",
		Fix: "Send 404 with -32601, and 400 with -32020 to -32022 and for requests without _meta.",
	},
	{
		ID: "http-challenge", Severity: Warning, By: Server, Title: "401 that does not say where to log in", First: rev2506, spec: secLocation, on: onStatus, check: checkChallenge,
		Why: "clients cannot find out where to log in, and ask the user for a token or give up",
		Fix: "Send WWW-Authenticate with resource_metadata.",
	},
	{
		ID: "http-origin", Severity: Note, By: Server, Title: "foreign web page accepted", spec: secOrigin, on: onStatus, check: checkOrigin,
		Why: "a web page that the user visits can call the server on the user's machine",
		Fix: "Refuse requests whose Origin is not one of yours with 403.",
	},
}
