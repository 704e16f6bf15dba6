package diagnosis

import "github.com/mcphud/mcphud/session/base/text"

// refusal is how programs say that the token which they were given is not good: words of Slack, GitHub, OAuth and HTTP.
var refusal = lazyPattern(`(?i)\b(invalid_auth|not_authed|token_(expired|revoked|inactive)|account_inactive|invalid_token|invalid[ _-]access[ _-]token|bad credentials|unauthori[sz]ed|` +
	`(status|code|http|error)\W{0,3}401|401 unauthori[sz]ed|invalid authentication|authentication failed)\b|` +
	`\b(access )?token\b.{0,30}\b(expired|revoked|rejected|refused|invalid|not valid|not good|no longer valid)\b|\b(expired|revoked|rejected|refused|invalid|bad) (access |oauth |bearer |bot |api )?token\b`)

// TokenRefused is the first of a child's lines that says that its token is not good, "" if none does.
func TokenRefused(lines []string) string {
	for _, l := range lines {
		if l = text.Cut(l, 2000); refusal().MatchString(l) {
			return text.Clip(l, 300)
		}
	}
	return ""
}
