package safety

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/check"
)

// order is a pattern of texts that tell a model what to do. Its first group, where it has one, is what the model shall give away: words in the
// match before it may exclude it, see find.
type order struct {
	rule string // without "safety/"; of several orders of one rule the first that a text has is reported
	sure check.Confidence
	re   *regexp.Regexp
	any  []string // of which re needs one, in lower case: looking for them takes a hundredth of the time
	// denies says that the pattern has its own "do not"; any other is void in a clause that denies it.
	denies bool
	mild   bool // what it matches may well be harmless: a warning
}

// orders are matched against texts in which blanks are single and nothing is hidden: a text is one line, ^ and $ are its ends. They have the
// severity of their rules but for those that are mild, whose confidence is less, too. Orders in other languages than English are all mild.
var orders = sync.OnceValue(func() []order {
	o := func(rule string, sure check.Confidence, words, re string) order {
		return order{rule: rule, sure: sure, re: regexp.MustCompile(`(?i)` + re), any: strings.Split(words, " ")}
	}
	denies := func(o order) order { o.denies = true; return o }
	mild := func(o order) order { o.mild = true; return o }
	const (
		// What secrecy begins with: such an order denies, so that isDenied must not look at it.
		never   = `\b(?:do not|don't|never|must not|should not|without) (?:ever |directly |explicitly )?`
		theUser = `(?:the|your) (?:end[- ])?users?\b`
		user    = `(?:the |your |any )?(?:end[- ])?users?\b`
		// What nobody should have a model pass on, or read: words, and files that programs keep keys and settings in.
		loot = `(?:conversation|chat|message)(?:'s)? (?:history|log|transcript)|(?:entire|full|whole|complete) (?:conversation|chat|prompt|context)|system prompt|ssh keys?|private keys?|api keys?|access tokens?|credentials|passwords|environment variables|~/\.|id_rsa|/etc/passwd|/etc/shadow|\.aws/|\.env\b|\.ssh/|mcp\.json|claude_desktop_config`
	)
	return []order{
		o("overrides-instructions", check.Likely, "instruction prompt rules directions guidelines guardrails polic restrictions", `\b(?:ignore|disregard|forget|override|bypass|discard)\b(?: \w+){0,2} (?:previous|prior|above|earlier|preceding|existing|other|system|safety|your|all|any|these)(?: \w+){0,2} (?:instructions?|prompts?|rules|directions|guidelines|guardrails|polic(?:y|ies)|restrictions)\b`),
		o("overrides-instructions", check.Likely, "you", `\b(?:you are now|from now on,? you (?:are|must|will|should))\b`),
		denies(o("hides-from-user", check.Likely, "user", never+`(?:tell|telling|inform|informing|warn|warning)(?: \w+){0,3}? `+user)),
		denies(o("hides-from-user", check.Likely, "user", never+`(?:notify|notifying|alert|alerting)(?: \w+){0,3}? `+theUser)),
		denies(o("hides-from-user", check.Likely, "user", never+`(?:tell|telling|mention|mentioning|reveal|revealing|disclose|disclosing|show|showing|report|reporting|say|explain)(?: [^\s.!?;]+){0,10}? to `+user)),
		denies(o("hides-from-user", check.Likely, "user", never+`(?:let|letting|allow|allowing) `+user+` (?:to )?(?:know|see (?:this|that|it|what)|notice|find out|learn|suspect|realiz|realis|become aware|be aware)`)),
		o("hides-from-user", check.Likely, "user", `\b(?:hide|hidden|conceal|concealed|keep|secret) (?:\w+ ){0,4}from `+user),
		denies(o("hides-from-user", check.Likely, "user", `\b(?:the )?user (?:must|should|does|need|do) ?(?:not|n't) (?:\w+ )?(?:know|see|notice|be told|be aware|find out)\b`)),
		o("collects-secrets", check.Likely, "history log transcript conversation chat prompt context key token credential password environment ~/ id_rsa /etc/ .aws .env .ssh mcp.json claude_desktop", `\b(?:send|pass|forward|upload|post|include|attach|append|copy|put|insert|leak|exfiltrate|provide|share|supply)\b[^.!?\n]{0,60}\b(?:as|in|into|to|with|via|through)\b[^.!?\n]{0,60}(`+loot+`)`),
		o("collects-secrets", check.Likely, "history log transcript conversation chat prompt context key token credential password environment ~/ id_rsa /etc/ .aws .env .ssh mcp.json claude_desktop", `\b(?:send|pass|forward|upload|post|include|attach|append|copy|put|insert|leak|exfiltrate|supply)\b (?:\w+ ){0,3}(?:the |your |all |any |its |his |her |their |user's |users' )(?:\w+ ){0,3}(`+loot+`)[^.!?\n]{0,60}\b(?:as|in|into|to|with|via|through)\b`),
		o("collects-secrets", check.Likely, "history log transcript conversation chat prompt context key token credential password environment ~/ id_rsa /etc/ .aws .env .ssh mcp.json claude_desktop", `\b(?:read|open|cat|load|get|fetch)\b (?:\w+ ){0,4}['"`+"`"+`]?(?:~/\.ssh|~/\.aws|~/\.cursor|~/\.config|~/\.env|\S*id_rsa|/etc/passwd|/etc/shadow|\S*claude_desktop_config|~/\S*mcp\.json)`),
		o("system-markup", check.Likely, "< [ #", `</?(?:system|system[-_ ]?prompt|assistant|admin|developer)>|<\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[/?INST\]|<</?SYS>>|\[SYSTEM(?: MESSAGE| PROMPT)?\]|^#+ ?system(?: prompt)?:`),
		o("important-markup", check.Possible, "<", `</?(?:important|critical|secret|hidden|instructions?|mandatory|urgent)>`),
		o("comes-first", check.Likely, "tool", `\b(?:before|prior to) (?:using|calling|invoking|running|executing) (?:any|all|every|each|other)(?: \w+){0,2} tools?\b`),
		o("comes-first", check.Likely, "tool", `\b(?:always|must)\b(?: \w+){0,3} (?:call|use|invoke|run) this tool (?:first|before (?:any|every|each|all|other))`),
		denies(o("comes-first", check.Likely, "tool", `\b(?:instead of|rather than|never use|do not use|don't use) (?:any |all |the )?(?:other|another|built-in|native|competing)(?: \w+){0,2} tools?\b`)),
		o("comes-first", check.Likely, "call use invoke run", `\b(?:call|use|invoke|run) this(?: tool)? (?:first,? )?(?:before|prior to) (?:any|every|each|all|other)\b`),
		o("comes-first", check.Likely, "call use invoke run", `\b(?:always|must)\b(?: \w+){0,3} (?:call|use|invoke|run) this(?: tool)? (?:first )?(?:at|in) the (?:start|beginning) of (?:any|every|each|all|a|the) (?:new )?(?:conversation|chat|session|task|turn)s?\b`),
		o("comes-first", check.Likely, "call use invoke run", `\bthis(?: tool)? (?:must|should|has to|needs to)(?: always)? be (?:called|used|invoked|run) (?:first\b|(?:before|prior to) (?:any|every|each|all|other)\b)`),
		o("comes-first", check.Likely, "first step", `\bmandatory first step\b`),
		denies(o("comes-first", check.Likely, "tool", `\bnever\b[^.!?\n]{1,40}\bwithout (?:first )?(?:calling |using |running )?this tool\b`)),
		o("overrides-instructions", check.Likely, "everything anything", `\b(?:ignore|disregard|forget)\b (?:everything|anything)(?: that)? (?:you (?:were|are|have been|had been) (?:told|taught|given|asked|instructed)|(?:said |written )?(?:above|before|so far))\b`),
		mild(o("overrides-instructions", check.Possible, "instruction prompt rule", `\bnew system (?:instructions?|prompt|rules?)\b(?: ?:|$|\.)`)),
		mild(denies(o("hides-from-user", check.Possible, "mention reveal disclose talk", never+`(?:mention|reveal|disclose|talk about) (?:this|that|it)(?: (?:to|in) (?:anyone|anybody|your \w+|the \w+))? ?(?:[.!;]|$)`))),
		o("hidden-comment", check.Likely, "<!-- [//]:", `(?:<!--|\[//\]: ?#)[^>]{0,400}?\b(?:assistant|model|llm|you must|you should|always|never|ignore|do not|forward|send|include|call)\b`),
		o("sends-elsewhere", check.Likely, "@", `\b(?:send|forward|bcc|cc|mail|email)\b (?:\w+ ){0,2}(?:cop(?:y|ies)|everything|all|it|them|this|results?|contents?|messages?|files?)\b[^.!?\n]{0,40}\bto [\w.+-]+@[\w-]+\.\w`),
		mild(o("overrides-instructions", check.Possible, "anweisung regeln vorgaben", `\b(?:ignoriere|vergiss|missachte)\b[^.!?\n]{0,40}\b(?:anweisung|regeln|vorgaben)`)),
		mild(o("overrides-instructions", check.Possible, "instructions instrucciones", `\b(?:ignore[zr]|oublie[zrs]?|ignora|olvida)\b[^.!?\n]{0,40}\b(?:instructions|instrucciones)\b`)),
		mild(o("overrides-instructions", check.Possible, "忽略 无视 無視 忘记", `(?:忽略|无视|無視|忘记)[^。\n]{0,20}(?:指令|指示|说明|规则|規則|提示)|(?:指示|命令|ルール)を(?:すべて)?無視`)),
		mild(denies(o("hides-from-user", check.Possible, "nutzer anwender", `\b(?:sage?|verrate?|erwähne?|zeige?|teile?)\b[^.!?\n]{0,40}(?:nutzer|anwender)\w*[^.!?\n]{0,20}\b(?:nicht|nichts|niemals)\b|\b(?:sage?|verrate?|erwähne?|zeige?|teile?)\b[^.!?\n]{0,20}\b(?:nicht|nichts|niemals)\b[^.!?\n]{0,20}(?:nutzer|anwender)`))),
		mild(denies(o("hides-from-user", check.Possible, "utilisateur usuario", `\bne (?:\w+ )?(?:dis|dites|révèle[zs]?|mentionne[zs]?|montre[zs]?|parle[zs]?)\b[^.!?\n]{0,40}utilisateur|\bno (?:\w+ ){0,2}(?:digas?|reveles?|menciones?|muestres?)\b[^.!?\n]{0,40}usuario`))),
		mild(denies(o("hides-from-user", check.Possible, "用户 用戶 ユーザー", `(?:不要|别|勿|不得|不能)(?:告诉|告知|让|向|通知)[^。\n]{0,6}用[户戶]|ユーザーには?[^。\n]{0,8}(?:言わ|伝え|知らせ)な`))),
	}
})
