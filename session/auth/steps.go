package auth

import "errors"

// asks is what the specification asks at each step.
var asks = map[string]struct{ text, section string }{
	StepResource:  {"find the protected-resource metadata: by WWW-Authenticate, then below the path, then at the root; its resource has to be this server", "RFC 9728 sections 3 and 5, MCP authorization: Authorization Server Location"},
	StepServer:    {"find the authorization server's metadata; its issuer has to be the one that was asked, character by character", "RFC 8414 section 3, OpenID Connect Discovery 1.0 section 4"},
	StepRegister:  {"have a client_id there: a registered one, a metadata document, or dynamic registration, in this order", "MCP authorization: Client Registration Approaches, RFC 7591"},
	StepAuthorize: {"send a browser there with PKCE S256, state and resource; it comes back with a code, the same state and the same iss", "OAuth 2.1 section 4.1, RFC 7636, RFC 8707, RFC 9207"},
	StepToken:     {"change the code, or what proves the program, into a token for this resource", "OAuth 2.1 sections 4.1.3 and 4.2, RFC 7523, RFC 8707"},
	StepIdentity:  {"have an ID token of the identity provider, by a browser that is sent there with PKCE S256, state and nonce", "OpenID Connect Core 1.0 section 3.1, Enterprise-Managed Authorization (SEP-990)"},
	StepExchange:  {"change the ID token, at the identity provider, into an ID-JAG for the authorization server of the resource", "RFC 8693, Enterprise-Managed Authorization (SEP-990)"},
	StepRefresh:   {"change the refresh token into a new token for the same resource", "RFC 6749 section 6, OAuth 2.1 section 4.3"},
	StepRevoke:    {"tell the authorization server that the tokens are not needed any more", "RFC 7009"},
	StepRetry:     {"send again what was refused, with the token in the Authorization header; a command is started with it in its environment", "RFC 6750 section 2.1"},
}

// Plan are the steps of a login by a person, none of which has begun.
func Plan() (steps []Step) {
	for _, name := range []string{StepResource, StepServer, StepRegister, StepAuthorize, StepToken, StepRetry} {
		steps = append(steps, Step{Name: name, Asks: asks[name].text, Section: asks[name].section})
	}
	return steps
}

// violation finds the broken rule in an error.
func violation(err error) *Violation {
	var v *Violation
	if errors.As(err, &v) {
		return v
	}
	return nil
}
