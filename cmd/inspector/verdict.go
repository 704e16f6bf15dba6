package inspector

import "fmt"

// tally are the outcomes of a run of --verify.
type tally struct {
	skills, failed, incomplete, unverifiable int
	files, mismatches                        int
}

func tallyOf(all []SkillReport) (t tally) {
	t.skills = len(all)
	for _, r := range all {
		t.files += len(r.Files)
		switch r.Outcome {
		case "failed":
			t.failed++
		case "incomplete":
			t.incomplete++
		case "unverifiable":
			t.unverifiable++
		}
		for _, f := range r.Files {
			if f.Status == "mismatch" {
				t.mismatches++
			}
		}
	}
	return t
}

// String is the sentence under the reports.
func (t tally) String() string {
	skills, files := count(t.skills, "skill"), count(t.files, "file")
	var s string
	switch {
	case t.failed > 0:
		s = fmt.Sprintf("%d of %s failed verification (%d digest/size mismatch across %s).", t.failed, skills, t.mismatches, files)
	case t.incomplete > 0:
		s = fmt.Sprintf("Checked %s and %s: no conformance errors in what was read.", skills, files)
	case t.unverifiable > 0:
		s = fmt.Sprintf("Checked %s and %s: no conformance errors.", skills, files)
	default:
		s = fmt.Sprintf("Verified %s and %s: no conformance errors.", skills, files)
	}
	if t.incomplete > 0 {
		s += fmt.Sprintf(" %d of %s could not be fully checked: the read bounds stopped the walk.", t.incomplete, skills)
	}
	if t.unverifiable > 0 {
		whose := "their"
		if t.unverifiable == 1 {
			whose = "its"
		}
		s += fmt.Sprintf(" %d of %s advertised no digests (resources: \"dynamic\"), so %s integrity was not checked.", t.unverifiable, skills, whose)
	}
	return s
}

// verdict is the error that the outcomes amount to, nil for none.
func (t tally) verdict(requireDigests bool) error {
	e := &Error{Message: t.String()}
	switch {
	case t.failed > 0:
		e.Exit, e.Code = ExitSkillFailed, "skills_nonconformant"
	case t.incomplete > 0:
		e.Exit, e.Code = ExitSkillIncomplete, "skills_incomplete"
	case t.unverifiable > 0 && requireDigests:
		e.Exit, e.Code = ExitSkillUnverifiable, "skills_unverifiable"
	default:
		return nil
	}
	return e
}
