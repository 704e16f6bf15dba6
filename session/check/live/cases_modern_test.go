package live

// tools is an answer to tools/list with these tools.
func listed(tools string) string {
	return "> {'id':'l','method':'tools/list'}\n< {'id':'l','result':{'tools':[" + tools + "]}}\n"
}

// modern begins a conversation of the modern era with a call of a tool.
const modern = "@ discover {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a',META}}\n"

// listen opens a subscription in the modern era.
const listening = "@ discover {'tools':{'listChanged':true}}\n> {'id':5,'method':'subscriptions/listen','params':{'notifications':{'toolsListChanged':true},META}}\n"

const (
	acked   = "< {'method':'notifications/subscriptions/acknowledged','params':{'notifications':{},'_meta':{'io.modelcontextprotocol/subscriptionId':5}}}\n"
	changed = "< {'method':'notifications/tools/list_changed','params':{'_meta':{'io.modelcontextprotocol/subscriptionId':5}}}\n"
	asking  = "< {'id':1,'result':{'resultType':'input_required','inputRequests':{'q':{'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object','properties':{'name':{'type':'string'}}}}}},'requestState':'s'}}\n"
)

// withElicitation is a call by a client that can be asked.
const withElicitation = "@ discover {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a','_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28','io.modelcontextprotocol/clientCapabilities':{'elicitation':{}}}}}\n"

var modernPairs = map[string]pair{
	"result-type":         {modern + "< {'id':1,'result':{'content':[]}}", modern + "< {'id':1,'result':{'resultType':'complete','content':[]}}"},
	"result-type-unknown": {modern + "< {'id':1,'result':{'resultType':'task','taskId':'t'}}", modern + "< {'id':1,'result':{'resultType':'complete','content':[]}}"},
	"result-type-early": {
		"@ hello 2025-11-25 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a'}}\n< {'id':1,'result':{'resultType':'complete','content':[]}}",
		"@ hello 2025-11-25 {'tools':{}}\n> {'id':1,'method':'tools/call','params':{'name':'a'}}\n< {'id':1,'result':{'content':[]}}",
	},
	"input-method": {
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}",
		modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}",
	},
	"input-empty":      {modern + "< {'id':1,'result':{'resultType':'input_required'}}", modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}"},
	"input-capability": {modern + asking, withElicitation + asking},
	"input-secret": {
		withElicitation + "< {'id':1,'result':{'resultType':'input_required','inputRequests':{'q':{'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object','properties':{'api_key':{'type':'string'}}}}}}}}",
		withElicitation + "< {'id':1,'result':{'resultType':'input_required','inputRequests':{'q':{'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object','properties':{'name':{'type':'string'}}}}}}}}",
	},
	"state-changed": {
		modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n> {'id':2,'method':'tools/call','params':{'name':'a','requestState':'S',META}}",
		modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n> {'id':2,'method':'tools/call','params':{'name':'a','requestState':'s',META}}",
	},
	"retry-id": {
		modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n> {'id':1,'method':'tools/call','params':{'name':'a','requestState':'s',META}}",
		modern + "< {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n> {'id':2,'method':'tools/call','params':{'name':'a','requestState':'s',META}}",
	},
	"subscription-id":    {listening + acked + "< {'method':'notifications/tools/list_changed'}", listening + acked + changed},
	"subscription-order": {listening + changed, listening + acked + changed},
	"discover": {
		modern + "< {'id':1,'result':{'resultType':'complete','content':[]}}\n> {'id':2,'method':'server/discover','params':{META}}\n< {'id':2,'error':{'code':-32601,'message':'x'}}",
		"> {'id':2,'method':'server/discover','params':{META}}\n< {'id':2,'error':{'code':-32601,'message':'x'}}",
	},
	"error-removed":  {modern + "< {'id':1,'error':{'code':-32002,'message':'x'}}", modern + "< {'id':1,'error':{'code':-32602,'message':'x'}}"},
	"error-reserved": {modern + "< {'id':1,'error':{'code':-32050,'message':'x'}}", modern + "< {'id':1,'error':{'code':-32021,'message':'x'}}"},
	"error-legacy":   {modern + "< {'id':1,'error':{'code':-32001,'message':'x'}}", modern + "< {'id':1,'error':{'code':-31001,'message':'x'}}"},
	"empty-contents": {
		"@ discover {'resources':{}}\n> {'id':1,'method':'resources/read','params':{'uri':'a://b',META}}\n< {'id':1,'result':{'resultType':'complete','contents':[ ]}}",
		"@ hello 2025-11-25 {'resources':{}}\n> {'id':1,'method':'resources/read','params':{'uri':'a://b'}}\n< {'id':1,'result':{'contents':[]}}",
	},
	"header-mark": {
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{'resultType':'complete','tools':[{'name':'a','inputSchema':{'type':'object','properties':{'b':{'type':'number','x-mcp-header':'B'}}}}]}}",
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{'resultType':'complete','tools':[{'name':'a','inputSchema':{'type':'object','properties':{'b':{'type':'string','x-mcp-header':'B'}}}}]}}",
	},
}

const legacy = "@ hello 2025-11-25 {'tools':{}}\n"

// structured is a call of a tool that promises structured content.
const structured = "> {'id':1,'method':'tools/call','params':{'name':'a'}}\n"

var (
	promising = listed("{'name':'a','inputSchema':{'type':'object','properties':{'n':{'type':'integer'}},'required':[]},'outputSchema':{'type':'object','properties':{'b':{'type':'integer'}},'required':['b']}}")

	toolPairs = map[string]pair{
		"tool-name":  {legacy + listed("{'name':'a b','inputSchema':{'type':'object'}}"), legacy + listed("{'name':'A.b-c_1','inputSchema':{'type':'object'}}")},
		"tool-twice": {legacy + listed("{'name':'a','inputSchema':{'type':'object'}},{'name':'a','inputSchema':{'type':'object'}}"), legacy + listed("{'name':'a','inputSchema':{'type':'object'}},{'name':'b','inputSchema':{'type':'object'}}")},
		"arguments": {
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'n':'x'}}}",
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'a','arguments':{'n':1}}}",
		},
		"output-schema": {
			legacy + promising + structured + "< {'id':1,'result':{'content':[],'structuredContent':{'b':'x'}}}",
			legacy + promising + structured + "< {'id':1,'result':{'content':[],'structuredContent':{'b':1}}}",
		},
		"output-missing": {
			legacy + promising + structured + "< {'id':1,'result':{'content':[]}}",
			legacy + promising + structured + "< {'id':1,'result':{'content':[],'isError':true}}",
		},
		"error-flag": {
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'b'}}\n< {'id':1,'result':{'content':[],'is_error':true}}",
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'b'}}\n< {'id':1,'result':{'content':[],'is_error':true,'isError':true}}",
		},
		"output-text": {
			legacy + promising + structured + "< {'id':1,'result':{'content':[],'structuredContent':{'b':1}}}",
			legacy + promising + structured + "< {'id':1,'result':{'content':[{'type':'text','text':'1'}],'structuredContent':{'b':1}}}",
		},
		"base64": {
			legacy + structured + "< {'id':1,'result':{'content':[{'type':'image','mimeType':'image/png','data':'!!'}]}}",
			legacy + structured + "< {'id':1,'result':{'content':[{'type':'image','mimeType':'image/png','data':'AAAA'}]}}",
		},
		"elicit-secret": {
			"@ hello 2025-11-25 {} {'elicitation':{}}\n< {'id':1,'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object','properties':{'password':{'type':'string'}}}}}",
			"@ hello 2025-11-25 {} {'elicitation':{}}\n< {'id':1,'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object','properties':{'name':{'type':'string'}}}}}",
		},
		"error-object": {
			legacy + structured + "< {'id':1,'error':{'code':1.5,'message':'x'}}",
			legacy + structured + "< {'id':1,'error':{'code':1,'message':'x'}}",
		},
		"unknown-tool-result": {
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'z'}}\n< {'id':1,'result':{'content':[],'isError':true}}",
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'a'}}\n< {'id':1,'result':{'content':[],'isError':true}}",
		},
		"unknown-tool-code": {
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'z'}}\n< {'id':1,'error':{'code':-32601,'message':'x'}}",
			legacy + promising + "> {'id':1,'method':'tools/call','params':{'name':'z'}}\n< {'id':1,'error':{'code':-32602,'message':'x'}}",
		},
		"arguments-error": {
			legacy + promising + structured + "< {'id':1,'error':{'code':-32602,'message':'x'}}",
			"@ hello 2025-06-18 {'tools':{}}\n" + promising + structured + "< {'id':1,'error':{'code':-32602,'message':'x'}}",
		},
		"tool-error": {
			legacy + promising + structured + "< {'id':1,'error':{'code':-32603,'message':'x'}}",
			legacy + promising + structured + "< {'id':1,'result':{'content':[],'isError':true}}",
		},
	}
)

// What an HTTP client sends with a message, in both eras.
const (
	sends   = ">> POST /mcp accept=application/json,text/event-stream content-type=application/json"
	sendsV  = sends + " mcp-protocol-version=2025-11-25"
	modernH = sends + " mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name=a"
	ask     = "> {'id':1,'method':'tools/call','params':{'name':'a',META}}\n"
)

// session is a handshake over HTTP with a session.
const session = sends + "\n> {'id':'h','method':'initialize','params':{'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'c','version':'1'}}}\n" +
	"<< 200 content-type=application/json mcp-session-id=abc\n< {'id':'h','result':{'protocolVersion':'2025-11-25','capabilities':{},'serverInfo':{'name':'s','version':'1'}}}\n" +
	sendsV + " mcp-session-id=abc\n> {'method':'notifications/initialized'}\n<< 202\n"

const ping = "\n> {'id':2,'method':'ping'}\n"

var httpPairs = map[string]pair{
	"http-accept":           {session + ">> POST /mcp accept=application/json content-type=application/json" + ping, session + sendsV + ping},
	"http-request-type":     {session + ">> POST /mcp accept=*/* content-type=text/plain" + ping, session + sendsV + ping},
	"http-version":          {session + sends + ping, session + sendsV + ping},
	"http-version-differs":  {session + sends + " mcp-protocol-version=2025-06-18" + ping, session + sendsV + ping},
	"http-method":           {sends + " mcp-protocol-version=2026-07-28 mcp-method=tools/list mcp-name=a\n" + ask, modernH + "\n" + ask},
	"http-name":             {sends + " mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name=b\n" + ask, sends + " mcp-protocol-version=2026-07-28 mcp-method=tools/call mcp-name==?base64?YQ==?=\n" + ask},
	"session-missing":       {session + sendsV + ping, session + sendsV + " mcp-session-id=abc" + ping},
	"session-over":          {session + sendsV + " mcp-session-id=abc" + ping + "<< 404\n" + sendsV + " mcp-session-id=abc\n> {'id':3,'method':'ping'}", session + sendsV + " mcp-session-id=abc" + ping + "<< 404\n" + session},
	"session-modern-client": {modernH + " mcp-session-id=abc\n" + ask, modernH + "\n" + ask},
	"session-modern":        {modernH + "\n" + ask + "<< 200 content-type=application/json mcp-session-id=abc", modernH + "\n" + ask + "<< 200 content-type=application/json"},
	"http-verb":             {modernH + "\n" + ask + "<< 200 content-type=application/json\n< {'id':1,'result':{'resultType':'complete','content':[]}}\n>> GET /mcp accept=text/event-stream", session + ">> GET /mcp accept=text/event-stream"},
	"http-cancel": {
		modernH + "\n" + ask + "<< 200 content-type=text/event-stream\n" + sends + " mcp-protocol-version=2026-07-28\n> {'method':'notifications/cancelled','params':{'requestId':1}}",
		session + sendsV + " mcp-session-id=abc\n> {'method':'notifications/cancelled','params':{'requestId':'h'}}",
	},
	"token-in-query":     {session + ">> POST /mcp?access_token=x accept=*/* content-type=application/json" + ping, session + ">> POST /mcp?tenant=x accept=*/* content-type=application/json" + ping},
	"http-response-type": {session + sendsV + ping + "<< 200 content-type=text/html", session + sendsV + ping + "<< 200 content-type=application/json;_charset=utf-8"},
	"http-accepted":      {session + sendsV + ping + "<< 202", session + sendsV + ping + "<< 200 content-type=application/json"},
	"http-not-accepted": {
		session + sendsV + "\n> {'method':'notifications/roots/list_changed'}\n<< 200 content-type=application/json",
		session + sendsV + "\n> {'method':'notifications/roots/list_changed'}\n<< 202",
	},
	"http-accepted-body": {
		session + sendsV + "\n> {'method':'notifications/roots/list_changed'}\n<< 202 content-length=2",
		session + sendsV + "\n> {'method':'notifications/roots/list_changed'}\n<< 202 content-length=0",
	},
	"http-error-status": {
		modernH + "\n" + ask + "<< 200 content-type=application/json\n< {'id':1,'error':{'code':-32021,'message':'x'}}",
		modernH + "\n" + ask + "<< 400 content-type=application/json\n< {'id':1,'error':{'code':-32021,'message':'x'}}",
	},
	"http-challenge": {session + sendsV + ping + "<< 401", session + sendsV + ping + "<< 401 www-authenticate=Bearer"},
	"http-origin":    {session + sendsV + " host=a.example origin=http://b.example" + ping + "<< 200 content-type=application/json", session + sendsV + " host=a.example origin=http://a.example" + ping + "<< 200 content-type=application/json"},
	"http-param": {
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{'resultType':'complete','tools':[" + marked + "]}}\n" + modernH + " mcp-param-region=us\n" + region,
		"@ discover {'tools':{}}\n> {'id':1,'method':'tools/list','params':{META}}\n< {'id':1,'result':{'resultType':'complete','tools':[" + marked + "]}}\n" + modernH + " mcp-param-region=eu\n" + region,
	},
}

const (
	marked = "{'name':'a','inputSchema':{'type':'object','properties':{'region':{'type':'string','x-mcp-header':'Region'}}}}"
	region = "> {'id':2,'method':'tools/call','params':{'name':'a','arguments':{'region':'eu'},META}}\n"
)
