// Package inspector reads the command line of the official Inspector (npm: @modelcontextprotocol/inspector, --cli), and
// writes what that writes: its flags, its files of servers, its exit codes and its error line. Who calls servers is the
// session layer, as for every other command. What it does beside reading, listing and calling is done by mcphud's own commands, to which it points.
package inspector

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

var methods = []string{
	"initialize", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get",
	"logging/setLevel", "skills/list", "skills/get", "resources/directory/read",
}

// Methods are what --method takes.
func Methods() []string { return slices.Clone(methods) }

// Check refuses what does not go together, in the order in which the Inspector looks at it.
func (r *Request) Check() error {
	if r.outputGiven || r.OutputFormat != "" {
		if err := r.checkOutput(); err != nil {
			return err
		}
	}
	if r.Method == "" {
		return fail("Method is required. Use --method to specify the method to invoke.")
	}
	if err := pointed(r.Method); err != nil {
		return err
	}
	if !slices.Contains(methods, r.Method) {
		return fail("Unsupported method: " + r.Method + ". Supported --cli methods: " + strings.Join(methods, ", ") + ".")
	}
	return nil
}

func (r *Request) checkOutput() error {
	switch {
	case !r.outputGiven:
		return fail("--output-format requires --output <path>.")
	case strings.TrimSpace(r.Output) == "":
		return fail("--output requires a non-empty file path.")
	case r.AppInfo:
		return fail("--output cannot be combined with --app-info or --verify, which emit a report rather than a result.")
	case r.OutputFormat == "raw" && r.Method != "tools/call" && r.Method != "resources/read":
		return fail("--output-format raw requires --method tools/call or resources/read; use --output-format json for other methods.")
	}
	return nil
}

// Needs refuses a method without what it is about. The Inspector looks at that once it is connected.
func (r *Request) Needs() error {
	for _, n := range []struct{ method, value, message string }{
		{"tools/call", r.ToolName, "Tool name is required for tools/call method. Use --tool-name to specify the tool name."},
		{"resources/read", r.URI, "URI is required for resources/read method. Use --uri to specify the resource URI."},
		{"prompts/get", r.Prompt, "Prompt name is required for prompts/get method. Use --prompt-name to specify the prompt name."},
		{"logging/setLevel", r.LogLevel, "Log level is required for logging/setLevel method. Use --log-level to specify the log level."},
		{"skills/get", r.URI, "URI is required for skills/get method. Use --uri to specify the skill URI."},
		{"resources/directory/read", r.URI, "URI is required for resources/directory/read. Use --uri to specify the directory URI."},
	} {
		if n.method == r.Method && n.value == "" {
			return fail(n.message)
		}
	}
	return nil
}

// CheckCall refuses what cannot be asked of any server, once it is known which one is meant.
func (r *Request) CheckCall() error {
	if r.AppInfo && r.Method != "tools/call" && r.Method != "tools/list" {
		return fail("--app-info requires --method tools/call (with --tool-name) or --method tools/list.")
	}
	_, err := r.Arguments(nil)
	return err
}

// Capabilities are what the Inspector declares: it answers roots/list, and knows skills; apps only where that is asked for.
func (r *Request) Capabilities() json.RawMessage {
	extensions := Pairs{{skillsExtension, json.RawMessage("{}")}}
	if r.AdvertiseApps {
		extensions.Set("io.modelcontextprotocol/ui", json.RawMessage(`{"mimeTypes":["text/html;profile=mcp-app"]}`))
	}
	return Pairs{{"roots", json.RawMessage(`{"listChanged":true}`)}, {"extensions", extensions.JSON()}}.JSON()
}

const skillsExtension = "io.modelcontextprotocol/skills"

// NoSkills is the error of a server without skills.
func (r *Request) NoSkills() error {
	return &Error{Exit: ExitUsage, Code: "skills_unsupported", Message: "Server does not declare the " + skillsExtension + " extension, so " + r.Method + " is not available."}
}

// NoDirectories is the error of a server whose folders cannot be read.
func (r *Request) NoDirectories() error {
	return fail("Server did not declare directoryRead in " + skillsExtension + "; resources/directory/read must not be called.")
}

// NoLogging is the error of a server that has no log level.
func (r *Request) NoLogging() error { return fail("Server does not support logging") }

// NoTool is the error of a tool that the server does not list.
func (r *Request) NoTool() error {
	return &Error{Exit: ExitTool, Code: "tool_not_found", Message: "Tool '" + r.ToolName + "' not found on server."}
}

// NoStructure is the error of a tool that returned no structured content where it declared some.
func (r *Request) NoStructure() error {
	return fail(`Tool "` + r.ToolName + `" declares an output schema but returned no structured content`)
}

// WrongStructure is the error of one whose structured content is not as declared.
func (r *Request) WrongStructure(why string) error {
	return fail(`Tool "` + r.ToolName + `": structured content: ` + why)
}

// Usage lists the options, and what does the work of those that are not taken.
func Usage() string {
	var b strings.Builder
	b.WriteString("Usage: mcphud --cli [target...] --method METHOD [options]\n\nThe target is a URL, or a command with its arguments. mcphud help inspector explains it.\n\n")
	for _, o := range options() {
		b.WriteString("  " + strings.TrimSpace(strings.Join(o.names, ", ")+" "+o.value) + "\n      " + o.about + "\n")
	}
	b.WriteString("\nOf the Inspector, but not taken here:\n\n")
	for _, word := range slices.Sorted(maps.Keys(elsewhere)) {
		b.WriteString("  " + word + "\n      " + elsewhere[word] + "\n")
	}
	return b.String()
}
