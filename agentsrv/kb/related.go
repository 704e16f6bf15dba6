package kb

import (
	"slices"
	"strings"
	"sync"
)

// relatedLike is how much a related word counts against the word itself.
const relatedLike = 0.5

// groups are words that people use for one thing: irregular forms that no stem unites, and what one calls by a name that
// others do not use. One group a line.
const groups = `
abort cancel end kill quit stop terminate interrupt
accessibility blind
again repeat retry
announce notification notify
answer reply response
argument param parameter
array list
ask question
attack exploit attacker
auth authenticate authentication authorization login credential
begin began start launch
big huge large
block hang stuck deadlock
break broke broken
browser web
cap limit maximum bound
change modify update edit
check validate verify
child subprocess spawn
choice choose chosen pick select
clipboard copy
color colour theme
command shell terminal
compare comparison diff
config configuration setting
connect connection network
container sandbox isolate isolation
crash die exit
credential key secret token password
customer tenant
decide decision
define definition
delay slow latency
delete remove
describe description
digit exact precision
directory folder path
doc docs document documentation
duplicate twice
elicit elicitation
env environment variable
error fail failure fault problem
examine inspect inspector
example sample
fake simulate mock
faulty flaky unreliable
figure metric measure
find found lookup search
forget forgotten forgot
function tool
gone vanish disappear missing
handshake initialize negotiate
hide hidden invisible
human person people
install setup
integer number numeric
javascript js
key keyboard shortcut
language model llm ai
lifetime ttl expire expiry
local localhost loopback
lose lost
malicious hostile evil untrusted
message frame
nginx proxy gateway
old legacy outdated deprecated
page paginate pagination cursor
parallel concurrent concurrency simultaneous
performance speed fast quick
permission allow consent
probe health alive
recursion recursive
redact mask
reference ref
revision version
run ran execute execution
safe secure security
save store record
send sent transmit
show display
stateless sessionless
summary summarise summarize
throttle rate
time timeout wait
traversal escape
typo mistype spelling
unicode utf8 encoding
write wrote written
`

// related has the other words of the groups of a term, as terms.
var related = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for l := range strings.Lines(groups) {
		words := strings.Fields(l)
		for i := range words {
			words[i] = stem(words[i])
		}
		for _, w := range words {
			for _, other := range words {
				if other != w && !slices.Contains(m[w], other) {
					m[w] = append(m[w], other)
				}
			}
		}
	}
	return m
})
