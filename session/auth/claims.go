package auth

import (
	"encoding/json"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Claims are what an access token says, if it is a JWT. Nobody has verified its signature: they are for reading, not for deciding.
type Claims struct {
	Header   json.RawMessage // as in the token
	Payload  json.RawMessage
	Type     string // typ of the header
	Issuer   string
	Subject  string
	Audience []string
	Expires  time.Time // zero for none
}

// maxToken bounds what is decoded.
const maxToken = 64 << 10

// ParseClaims decodes a token; nil if it is not a JWT.
func ParseClaims(token string) *Claims {
	if len(token) > maxToken {
		return nil
	}
	var m jwt.MapClaims
	t, parts, err := jwt.NewParser().ParseUnverified(token, &m)
	if err != nil {
		return nil
	}
	c := &Claims{}
	p := jwt.NewParser()
	if c.Header, err = p.DecodeSegment(parts[0]); err != nil {
		return nil
	}
	if c.Payload, err = p.DecodeSegment(parts[1]); err != nil {
		return nil
	}
	c.Type, _ = t.Header["typ"].(string)
	claims := t.Claims
	c.Issuer, _ = claims.GetIssuer() // a claim of another type is shown in Payload
	c.Subject, _ = claims.GetSubject()
	if aud, err := claims.GetAudience(); err == nil {
		c.Audience = aud
	}
	if at, err := claims.GetExpirationTime(); err == nil && at != nil {
		c.Expires = at.Time
	}
	return c
}
