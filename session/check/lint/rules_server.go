package lint

import "github.com/mcphud/mcphud/session/check"

// itemRules are about prompts, resources and templates.
var itemRules = []rule{
	{Rule: check.Rule{
		ID: "lint/item-duplicate", Severity: check.Error, Title: "is listed twice", Why: "clients keep one of them", Fix: "list each name and URI once",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/item-description", Severity: check.Info, Title: "has no description", Why: "people and models choose by it", Fix: "say what it is for",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/argument-name", Severity: check.Error, Title: "has an argument without a name", Why: "it cannot be filled in, and clients that check the list refuse all of it", Fix: "give it a name",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/argument-duplicate", Severity: check.Error, Title: "has two arguments of one name", Why: "only one of them can be sent", Fix: "rename one",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/argument-description", Severity: check.Info, Title: "has an argument without description", Why: "people have only its name to decide by", Fix: "say what to put there",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/resource-uri", Severity: check.Error, Title: "has a URI that is not absolute", Why: "clients that parse it refuse the resource", Fix: "begin it with a scheme: file:///…, https://…, or one of your own",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/mime-type", Severity: check.Warning, Title: "has a mimeType that is not one", Why: "clients show the content as bytes", Fix: "write TYPE/SUBTYPE, as text/markdown",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/resource-size", Severity: check.Warning, Title: "has a size that is not a number of bytes", Why: "clients plan the context by it", Fix: "give the size in bytes, or leave it out",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/content-annotation", Severity: check.Error, Title: "has an annotation that the protocol's schema refuses", Why: "clients that check the list refuse all of it", Fix: "audience is a list of user and assistant, priority a number from 0 to 1, lastModified a time as 2025-01-12T15:00:58Z",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/template-invalid", Severity: check.Error, Title: "has a URI template that does not parse", Why: "no client can fill it in", Fix: "write it as RFC 6570 says",
		Source: specTypes, Read: read, Clients: []string{"vscode"},
	}},
	{Rule: check.Rule{
		ID: "lint/template-fixed", Severity: check.Warning, Title: "has a URI template without a variable", Why: "it is one resource, and clients ask for values that are not there", Fix: "list it as a resource, and not as a template; where a part of it was to vary, write that part as {name}",
		Source: specTypes, Read: read,
	}},
}

// serverRules are about the server as a whole.
var serverRules = []rule{
	{Rule: check.Rule{
		ID: "lint/server-name", Severity: check.Error, Title: "does not say its name and version", Why: "both are required: SDKs refuse the connection", Fix: "set name and version of serverInfo",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/server-version", Severity: check.Info, Title: "has a version that is not a semantic one", Why: "the registry and clients cannot tell which of two is newer", Fix: "write MAJOR.MINOR.PATCH",
		Source: "https://modelcontextprotocol.io/registry/versioning", Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/instructions-blank", Severity: check.Warning, Title: "has instructions of nothing but blanks", Why: "they take a place in the context and say nothing", Fix: "leave them out, or say how the tools go together",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/instructions-too-long", Severity: check.Warning, Title: "has instructions that are longer than a client takes", Why: "the rest is cut", Fix: "begin with what matters, and shorten the rest",
		Source: "https://dev.to/rulestack/20-of-20-runs-sent-serverdiscover-to-our-stdio-mcp-server-off-by-default-per-the-docs-and-its-12m2", Read: read, Clients: []string{"claude-code"},
	}, port: true, harms: true},
	{Rule: check.Rule{
		ID: "lint/capability-type", Severity: check.Error, Title: "has a capability of the wrong type", Why: "SDKs refuse the connection", Fix: "a capability is an object, listChanged and subscribe are true or false",
		Source: sdkTypes, Read: read, Clients: []string{"typescript-sdk", "python-sdk", "go-sdk"},
	}},
	{Rule: check.Rule{
		ID: "lint/capability-without-items", Severity: check.Info, Title: "declares a capability and has nothing of it", Why: "clients ask for lists that are empty", Fix: "leave the capability out unless the list can grow",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/capability-missing", Severity: check.Error, Title: "answers a list that it does not declare", Why: "clients never ask for it", Fix: "declare the capability",
		Source: specTypes, Read: read,
	}},
	{Rule: check.Rule{
		ID: "lint/extension-name", Severity: check.Warning, Title: "declares an extension without a prefix in its name", Why: "names without a prefix are not allowed, and collide", Fix: "write VENDOR.DOMAIN/NAME",
		Source: specTypes, Read: read,
	}},
}
