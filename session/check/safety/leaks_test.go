package safety

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----"

// What is a secret in a result, and what only resembles one.
func TestLeaks(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
	for _, c := range []struct{ name, text, want string }{
		{"text", "use ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr now", "a GitHub token 32"},
		{"text", pem, "a private key"},
		{"text", "before\n" + pem + "\nafter ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr", "a private key, a GitHub token 32"},
		{"session", jwt, "a JSON Web Token"},
		{"access_token", "q83hf92kdl2mzx8", "a secret by its name 15"},
		{"GITHUB_TOKEN", "ghp_A8s7Df6g5Hj4k3L2z1XcVbNmQwEr", "a GitHub token 32"},
		{"dbPassword", "hunt9rGreen", "a secret by its name 11"},
		{"client_secret", "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "a secret by its name 32"},
		{"text", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzQ8d2mKp5rTv", "a setting called AWS_SECRET_ACCESS_KEY 40"},
		{"text", "Authorization: Bearer q83hf92kdl2mzx8pL0w7", "a bearer token 20"},
		{"text", "postgres://app:q83hf92kdl2@db.internal/x", "a password in a URL 11"},
		{"url", "https://api.example.com/x?api_key=q83hf92kdl2mzx8", "a URL's parameter api_key 15"},
		{"url", "https://api.example.com/x?api_key=q83hf92kdl2mzx8&x-amz-date=1", "a URL's parameter api_key 15"},
		{"text", "use glpat-q83hf92kdl2mzx8pL0w7-ab now", "a GitLab token 29"},
		{"text", "use ghp_A8s7Dtestg5Hj4k3L2z1XcVbNmQwEr now", "a GitHub token 34"},
		{"text", "use sk_live_4eC39HqLyjWDarjtT1zdp7dc now", "a Stripe key 32"},
		{"text", "use sk_test_4eC39HqLyjWDarjtT1zdp7dc now", "a Stripe key 32"},
		{"text", "use rk_live_4eC39HqLyjWDarjtT1zdp7dc now", "a Stripe key 32"},

		{"text", "use ghp_xxxxxxxxxxxxxxxxxxxxxxxx now", ""},
		{"text", "use sk_test_testtesttest1234test now", ""},
		{"text", "use glpat-foo-bar-00000000-test-1ab now", ""},
		{"text", "use glpat-aaaaaaaaaaaaaaaaaaaa-xyz now", ""},
		{"text", "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PUBLIC KEY-----", ""},
		{"text", "The file begins with -----BEGIN PRIVATE KEY----- and is refused.", ""},
		{"nextPageToken", "q83hf92kdl2mzx8pL0w7", ""},
		{"token", "USDC", ""},
		{"tokenAddress", "0x9f8e7d6c5b4a39281706f5e4d3c2b1a0", ""},
		{"token_type", "Bearer2pop", ""},
		{"max_tokens", "4096tokens8", ""},
		{"key", "PROJ-1234abcd", ""},
		{"author", "q83hf92kdl2mzx8", ""},
		{"secretName", "db-credentials-1", ""},
		{"secret_path", "/run/secrets/db1", ""},
		{"password", "required", ""},
		{"password", "${DB_PASSWORD1}", ""},
		{"password", "********", ""},
		{"token", "your-token-here-1", ""},
		{"text", "const token = nextToken2Value99x;", ""},
		{"text", "password: process.env.DB_PASS_1234567", ""},
		{"text", "The token budget: 16384 of 200000 used by prompt1234567890", ""},
		{"text", "https://bucket.s3.amazonaws.com/x?X-Amz-Credential=q83hf92kdl2mzx8&X-Amz-Security-Token=q83hf92kdl2mzx8", ""},
		{"text", "postgres://user:password@localhost/db", ""},
		{"text", "sha256 9f8e7d6c5b4a39281706f5e4d3c2b1a0 of commit eyJuZXh0IjoxfQ", ""},
		{"cursor", "eyJuZXh0IjoxMjM0NTY3ODkwLCJhIjoxfQ", ""},
	} {
		var got []string
		for _, l := range findLeaks(c.name, c.text) {
			got = append(got, l.what+" "+plural(len(l.value), "", ""))
			if l.value != "" && !strings.Contains(c.text, l.value) {
				t.Errorf("%q is not in %q", l.value, c.text)
			}
		}
		if all := strings.Join(got, ", "); (c.want == "") != (len(got) == 0) || c.want != "" && !matches(all, c.want) {
			t.Errorf("%s: %.60q: %q, want %q", c.name, c.text, all, c.want)
		}
	}
}

// matches reports whether each wanted thing stands in what was found.
func matches(all, want string) bool {
	for w := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return strings.Count(all, ",") == strings.Count(want, ",")
}

// Names that servers give to what is about a token or a secret, and is none; and those of the thing itself.
func TestNarrow(t *testing.T) {
	for name := range strings.FieldsSeq(`nextPageToken nextToken pageToken startToken continuationToken continueToken token_cursor syncToken resumeToken progressToken cancelToken cancellationToken changeToken startPageToken
		previousToken prevToken tokenCount totalTokens max_tokens min_tokens tokenLimit tokenUsage token_type tokenExpires token_expiry tokenExpiration token_id secretIds secretName secret_names
		tokenUrl token_uri token_endpoint passwordPolicy tokenSymbol tokenAddress tokenMint tokenContract tokenField secretPath secretFile tokenHash token_sha secretVersion secretRef secretReference
		secretArn passwordLength csrfToken xsrf-token publicToken inputTokens outputTokens promptTokens completionTokens tokenLabel tokenTitle tokenDescription tokenStatus tokenState secretManager
		tokenProvider tokenScheme secretList password_at passwordUpdated token_created author key`) {
		if isSecretName(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
	for name := range strings.FieldsSeq(`token access_token accessToken GITHUB_TOKEN clientSecret dbPassword passwd ssh_passphrase apiKey aws_secret_access_key privateKey credential DB_PWD`) {
		if !isSecretName(name) {
			t.Errorf("%s is not taken for a secret", name)
		}
	}
}

// A value is one that is used: long enough, of letters and digits, of enough different ones, and no example, path, link or code.
func TestCredible(t *testing.T) {
	for _, c := range []struct {
		value string
		least int
		want  bool
	}{
		{"q83hf92k", 8, true},
		{"q83hf92", 8, false},
		{"qqqhf92k", 8, true},
		{"qqqqhf92", 8, false},
		{"qqqqqqq2", 8, false},
		{"qwertzui", 8, false},
		{"83746201", 8, false},
		{"q8hf92", 6, true},
		{"q8q8q8", 6, false},
		{"q83hf92kdl2mzx8pL0w7", 16, true},
		{"aabbccddee1122aabb", 16, false},
		{"aabbccddee112233ffgg", 16, true},
		{"/q83hf92k", 8, false},
		{"./q83hf92k", 8, false},
		{"a1://q83hf92k", 8, false},
		{"q83 hf92k", 8, false},
		{"q83(hf92k)", 8, false},
		{strings.Repeat("q83hf92k", 512), 8, true},
		{strings.Repeat("q83hf92k", 512) + "a", 8, false},
		{"a1b2c3d4?", 8, true},
	} {
		assert.Equalf(t, isPlausibleSecret(c.value, c.least), c.want, "%.30s of at least %d", c.value, c.least)
	}
}
