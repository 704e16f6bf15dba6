package entity

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Related are the entities one edge away from the entity with this id, up to 100, outgoing edges first; total says how
// many there are.
func (g *Graph) Related(ctx context.Context, tenant, id string) (all []Related, total int, err error) {
	if err := g.open(ctx); err != nil {
		return nil, 0, err
	}
	rows, err := g.db.QueryContext(ctx, `
		WITH near AS (
			SELECT relation, 'out' AS direction, dst AS id FROM entity_edges WHERE tenant IN (@tenant, '') AND src = @id
			UNION SELECT relation, 'in', src FROM entity_edges WHERE tenant IN (@tenant, '') AND dst = @id)
		SELECT near.relation, near.direction, e.id, e.type, e.name, count(*) OVER () FROM near JOIN entities e ON e.id = near.id
		WHERE `+visible+` ORDER BY near.direction DESC, near.relation, e.id LIMIT @limit`,
		sql.Named("tenant", tenant), sql.Named("id", id), sql.Named("limit", maxRelated))
	if err != nil {
		return nil, 0, fmt.Errorf("entity: related to %s: %w", id, err)
	}
	all, err = collect(rows, func(r *sql.Rows) (x Related, err error) {
		return x, r.Scan(&x.Relation, &x.Direction, &x.ID, &x.Type, &x.Name, &total)
	})
	return all, total, err
}

const (
	maxMentionWords = 4000 // of a text that is searched for names
	maxMentionName  = 5    // words of a name that is found in a text
	mentionBatch    = 2000
)

// Mentions are the entities whose name or alias occurs in a text, in the order of their first occurrence, at most limit.
// Of two names at the same place the longer counts. Only the first 4,000 words of the text are searched.
func (g *Graph) Mentions(ctx context.Context, tenant, text string, limit int) ([]Entity, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	w := strings.Fields(fold(text))
	w = w[:min(len(w), maxMentionWords)]
	byName := map[string][]Entity{}
	for start := 0; start < len(w); start += mentionBatch / maxMentionName {
		if err := g.findByName(ctx, tenant, phrases(w, start, min(len(w), start+mentionBatch/maxMentionName)), byName); err != nil {
			return nil, err
		}
	}
	var all []Entity
	seen := map[string]bool{}
	for at := 0; at < len(w); {
		n := min(maxMentionName, len(w)-at)
		for n > 0 && byName[strings.Join(w[at:at+n], " ")] == nil {
			n--
		}
		for _, e := range byName[strings.Join(w[at:at+n], " ")] {
			if seen[e.ID] {
				continue
			}
			if seen[e.ID] = true; len(all) < limit {
				all = append(all, e)
			}
		}
		at += max(1, n)
	}
	return all, nil
}

// phrases are all runs of up to five words that begin at from or later, and before to.
func phrases(w []string, from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		for n := 1; n <= maxMentionName && i+n <= len(w); n++ {
			all = append(all, strings.Join(w[i:i+n], " "))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (g *Graph) findByName(ctx context.Context, tenant string, names []string, into map[string][]Entity) error {
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	rows, err := g.db.QueryContext(ctx, `SELECT e.id, e.type, e.name, e.properties, n.fold FROM entity_names n
		JOIN entities e ON e.tenant = n.tenant AND e.id = n.id
		WHERE n.tenant IN (@tenant, '') AND n.fold IN (SELECT value FROM `+g.elements("@names")+`) AND `+visible+` ORDER BY e.type, e.id LIMIT 1000`,
		sql.Named("tenant", tenant), sql.Named("names", string(list)))
	if err != nil {
		return fmt.Errorf("entity: look for names: %w", err)
	}
	got, err := collect(rows, func(r *sql.Rows) (c candidate, err error) {
		var properties string
		err = r.Scan(&c.ID, &c.Type, &c.Name, &properties, &c.fold)
		c.Properties = json.RawMessage(properties)
		return c, err
	})
	for _, c := range got {
		if !slices.ContainsFunc(into[c.fold], func(e Entity) bool { return e.ID == c.ID }) {
			into[c.fold] = append(into[c.fold], c.Entity)
		}
	}
	return err
}
