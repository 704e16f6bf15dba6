package wordvec

import "strings"

// Common tells whether a word, in small letters, says nothing about what a text is about. Such words have no vector.
func Common(word string) bool { return common[word] }

var common = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about after all also am an and any are as at be because been before being but by can could did do
		does doing don done for from get gets got had has have having how i if in into is isn it its just let like ll made make makes
		me may might much must my need no nor not now of off on one only onto or other our out over own please re same say says should so some such
		tell than that the their them then there these they thing this those through to too up us use used uses using ve very want wants was way we were what when
		where which while who whose why will with without work works would you your`) {
		m[w] = true
	}
	return m
}()
