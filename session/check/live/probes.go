package live

import (
	"sync"

	"github.com/mcphud/mcphud/session/check/rules"
)

// when says for which entries a rule is checked, as bits.
type when uint16

const (
	onRequest when = 1 << iota
	onNotification
	onResult
	onError
	onBad    // output that is not a message, or the note of a batch
	onPost   // the head of an HTTP request, once the message in it is known
	onStatus // the head of an HTTP response
	onEnd    // a request that has no answer at the end of its connection
	onAnswer = onResult | onError
	onCall   = onRequest | onNotification
	onFrame  = onCall | onAnswer
)

// probe finds the cases of a rule.
type probe struct {
	id string // of a rule of live.yaml
	on when
	// check returns the evidence, "" where nothing is wrong. An entry of an unknown revision is checked as well, see
	// frame.rev; check may set frame.at to the Seq of another entry that is to blame, and frame.about to its method.
	check func(f *frame) string
}

// probes has one for each rule, and no other; in which order rules are checked live.yaml says.
var probes = []probe{
	{"stdout-noise", onBad, checkNoise},
	{"http-body", onBad, checkBody},
	{"broken-frame", onBad, checkCut},
	{"not-utf8", onBad, checkUTF8},
	{"batch", onBad, checkBatch},
	{"jsonrpc-version", onBad, checkVersionMember},
	{"duplicate-member", onBad, checkDuplicate},
	{"result-and-error", onBad, checkBoth},
	{"no-result", onBad, checkNeither},
	{"id-null", onBad, checkNullID},
	{"id-missing", onBad, checkMissingID},
	{"id-type", onBad | onRequest, checkIDType},
	{"message-shape", onBad, checkShape},
	{"schema-request", onRequest, checkRequestSchema},
	{"schema-notification", onNotification, checkRequestSchema},
	{"schema-result", onResult, checkResultSchema},
	{"id-reused", onRequest, checkReused},
	{"id-changed", onAnswer, checkChangedID},
	{"id-unknown", onAnswer, checkUnknownID},
	{"answer-twice", onAnswer, checkDuplicateAnswer},
	{"answer-late", onAnswer, checkLate},
	{"unanswered", onEnd, checkUnanswered},
	{"early-request", onRequest, checkEarly},
	{"initialize-twice", onRequest, checkTwice},
	{"impatient-client", onCall, checkImpatient},
	{"not-initialized", onRequest, checkNotInitialized},
	{"impatient-server", onRequest, checkForward},
	{"version-unknown", onRequest | onResult, checkVersion},
	{"other-revision", onCall, checkOtherEra},
	{"wrong-direction", onCall, checkDirection},
	{"method-unknown", onCall, checkUnknownMethod},
	{"server-request", onRequest, checkServerRequest},
	{"capability-unused", onRequest, checkServerCapability},
	{"capability-empty", onError, checkNotImplemented},
	{"client-capability", onRequest, checkClientCapability},
	{"list-changed", onNotification, checkListChanged},
	{"logging-capability", onNotification, checkLogging},
	{"log-level", onNotification, checkLevel},
	{"log-uninvited", onNotification, checkUninvitedLog},
	{"not-subscribed", onNotification, checkUpdate},
	{"cancel-initialize", onNotification, checkCancelInitialize},
	{"cancel-unknown", onNotification, checkCancelUnknown},
	{"cancel-server", onNotification, checkServerCancels},
	{"ping-result", onResult, checkPing},
	{"progress-token", onNotification, checkToken},
	{"progress-late", onNotification, checkAfter},
	{"progress-order", onNotification, checkIncrease},
	{"token-reused", onRequest, checkTokenReused},
	{"cursor-loop", onResult, checkCursorLoop},
	{"cursor-invented", onRequest, checkCursor},
	{"root-uri", onResult, checkRoots},
	{"deprecated", onCall | onResult, checkDeprecated},
	{"meta-missing", onRequest, checkMeta},
	{"result-type", onResult, checkResultType},
	{"result-type-unknown", onResult, checkResultTypeUnknown},
	{"result-type-early", onResult, checkResultTypeLegacy},
	{"input-method", onResult, checkRounds},
	{"input-empty", onResult, checkRoundsEmpty},
	{"input-capability", onResult, checkRoundsCapability},
	{"state-changed", onRequest, checkState},
	{"retry-id", onRequest, checkRetryID},
	{"subscription-id", onNotification, checkSubscriptionID},
	{"subscription-order", onNotification, checkAck},
	{"discover", onError, checkDiscover},
	{"tool-name", onResult, checkToolName},
	{"tool-twice", onResult, checkToolTwice},
	{"header-mark", onResult, checkHeaderMarks},
	{"arguments", onRequest, checkArguments},
	{"output-schema", onResult, checkStructured},
	{"output-missing", onResult, checkStructuredMissing},
	{"error-flag", onResult, checkErrorFlag},
	{"output-text", onResult, checkNoText},
	{"base64", onResult, checkBase64},
	{"elicit-secret", onRequest, checkSecret},
	{"input-secret", onResult, checkRoundsSecret},
	{"empty-contents", onResult, checkEmptyContents},
	{"error-object", onError, checkErrorObject},
	{"error-removed", onError, checkRemovedCode},
	{"error-reserved", onError, checkReservedCode},
	{"error-legacy", onError, checkLegacyCode},
	{"unknown-tool-result", onResult, checkUnknownAsResult},
	{"unknown-tool-code", onError, checkUnknownCode},
	{"arguments-error", onError, checkArgumentsAsError},
	{"tool-error", onError, checkFailureAsError},
	{"http-accept", onPost, checkAccept},
	{"http-request-type", onPost, checkContentType},
	{"http-version", onPost, checkVersionHeader},
	{"http-version-differs", onPost, checkVersionHeaderSame},
	{"http-method", onPost, checkMethodHeader},
	{"http-name", onPost, checkNameHeader},
	{"http-param", onPost, checkParamHeaders},
	{"session-missing", onPost, checkSessionMissing},
	{"session-over", onPost, checkSessionGone},
	{"session-modern-client", onPost, checkSessionModern},
	{"session-modern", onStatus, checkSessionModern},
	{"http-verb", onPost, checkVerb},
	{"http-cancel", onPost, checkCancelHTTP},
	{"token-in-query", onPost, checkQuery},
	{"http-response-type", onStatus, checkResponseType},
	{"http-accepted", onStatus, checkAccepted},
	{"http-not-accepted", onStatus, checkNotificationStatus},
	{"http-accepted-body", onStatus, checkAcceptedBody},
	{"http-error-status", onError, checkErrorStatus},
	{"http-challenge", onStatus, checkChallenge},
	{"http-origin", onStatus, checkOrigin},
}

// watched is a rule with its probe.
type watched struct {
	*rules.Rule
	check func(f *frame) string
}

// byEvent are the rules by the bits of when, each in the order of live.yaml.
var byEvent = sync.OnceValue(func() (all [16][]watched) {
	of := make(map[string]probe, len(probes))
	for _, p := range probes {
		of[p.id] = p
	}
	for _, r := range rules.Of("live") {
		p := of[r.ID]
		for bit := range all {
			if p.on&(1<<bit) != 0 {
				all[bit] = append(all[bit], watched{r, p.check})
			}
		}
	}
	return all
})
