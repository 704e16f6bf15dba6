package diagnosis

import (
	"strings"
	"testing"
)

// The lines are what the programs wrote, paths changed.
func TestCausesThatStderrNames(t *testing.T) {
	for said, want := range map[string]string{
		"/usr/bin/env: ‘node\\r’: No such file or directory\n/usr/bin/env: use -[v]S to pass options in shebang lines": "ends in CR LF, so that its program node",
		"env: node\r: No such file or directory":                                                                                               "CR LF",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?":                                    "the Docker daemon is not running",
		"docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock":                         "may not use the Docker daemon",
		"docker: Error response from daemon: pull access denied for mcp/githubb, repository does not exist or may require 'docker login'":      "there is no image mcp/githubb",
		"./server: cannot execute binary file: Exec format error":                                                                              "another processor",
		"server: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory":               "the shared library libssl.so.1.1 is missing",
		"server: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by server)":                                         "needs GLIBC_2.38",
		"npm error code SELF_SIGNED_CERT_IN_CHAIN":                                                                                             "a certificate is not trusted",
		"npm error code E404\nnpm error 404 Not Found - GET https://registry.example.com/@modelcontextprotocol%2fserver-filesytem - Not found": "no package @modelcontextprotocol/server-filesytem",
		"npm error code ETARGET\nnpm error notarget No matching version found for zod@99.":                                                     "no such version",
		"npm ERR! code E401":                              "the npm registry refused the request (E401)",
		"npm error code ENOTFOUND\nnpm error network":     "npm cannot reach its registry (ENOTFOUND)",
		"npm error could not determine executable to run": "has no program to run",
		"  × No solution found when resolving tool dependencies:\n  ╰─▶ Because mcp-server-gitt was not found in the package registry and you require": "the Python package index has no package mcp-server-gitt",
		"error: Failed to fetch: `https://pypi.org/simple/mcp-server-git/`":                                                                            "https://pypi.org/simple/mcp-server-git/ cannot be fetched",
		"ERROR: Package 'x' requires a different Python: 3.8.10 not in '>=3.10'":                                                                       "requires a different Python: 3.8.10",
		"npm WARN EBADENGINE Unsupported engine {":                                                                                                     "another version of Node",
		"This server requires Node.js 22":                                                                                                              "another version of Node (requires Node.js 22)",
		"Error: Cannot find module '/srv/app/serverr.js'":                                                                                              "the file /srv/app/serverr.js does not exist",
		"Error: Cannot find module 'express'\nRequire stack:\n- /srv/a/b.js":                                                                           "the module express is missing",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from":                                                                        "the module zod is missing",
		"TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND mcp.example.com":                                                             "the host mcp.example.com is not found",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp' imported from /srv/node_modules/@a/b/dist/index.js": "the server's packages do not fit together: there is no /srv/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp",
		"ModuleNotFoundError: No module named 'mcp'":                                        "the Python module mcp is missing",
		"ImportError: cannot import name 'X' from 'mcp' (/usr/lib/mcp.py)":                  "cannot be imported (ImportError: cannot import name 'X'",
		"python3: can't open file '/srv/serverr.py': [Errno 2] No such file or directory":   "the file /srv/serverr.py does not exist",
		"Error: spawn git ENOENT":                                                           "the program git, which is not found",
		"sh: 1: uvx: not found":                                                             "the program uvx is not found",
		"bash: line 1: uvx: command not found":                                              "the program uvx is not found",
		"Error: listen EADDRINUSE: address already in use :::3000":                          "port 3000 is in use",
		"Error: listen EADDRINUSE: address already in use 127.0.0.1:8080":                   "port 8080 is in use",
		"OSError: [Errno 98] Address already in use":                                        "a port is in use",
		"Error: EACCES: permission denied, open '/etc/shadow'":                              "no permission for /etc/shadow",
		"PermissionError: [Errno 13] Permission denied: '/root/x'":                          "no permission for /root/x",
		"Error: ENOENT: no such file or directory, stat '/home/me/nothing'":                 "/home/me/nothing does not exist",
		"FileNotFoundError: [Errno 2] No such file or directory: '/srv/db'":                 "/srv/db does not exist",
		"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory": "ran out of memory",
		"listening on stdio":    "",
		"GET /found 200 in 3ms": "",
		"":                      "",
	} {
		got := Of(strings.Split(said, "\n"), nil)
		if !strings.Contains(got.What, want) || (want == "") != (got.What == "") || (want == "") != (got.Advice() == "") {
			t.Errorf("%q:\n%q, want %q", said, got.Advice(), want)
		}
		if len(got.Next) > 100 {
			t.Errorf("%q is long", got.Next)
		}
	}
}
