package entity

// A name is what an entity is found by: its own, or an alias, folded. A term is a trigram of those ("3") or a word of its
// properties ("w").
const tables = `
CREATE TABLE entities (tenant TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, properties TEXT NOT NULL,
	PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE INDEX entities_type ON entities (tenant, type);
CREATE TABLE entity_names (tenant TEXT NOT NULL, type TEXT NOT NULL, fold TEXT NOT NULL, id TEXT NOT NULL,
	PRIMARY KEY (tenant, type, fold, id)) WITHOUT ROWID;
CREATE INDEX entity_names_id ON entity_names (tenant, id);
CREATE INDEX entity_names_fold ON entity_names (tenant, fold);
CREATE TABLE entity_terms (tenant TEXT NOT NULL, type TEXT NOT NULL, term TEXT NOT NULL, id TEXT NOT NULL,
	PRIMARY KEY (tenant, type, term, id)) WITHOUT ROWID;
CREATE INDEX entity_terms_id ON entity_terms (tenant, id);
CREATE TABLE entity_edges (tenant TEXT NOT NULL, src TEXT NOT NULL, relation TEXT NOT NULL, dst TEXT NOT NULL,
	PRIMARY KEY (tenant, src, relation, dst)) WITHOUT ROWID;
CREATE INDEX entity_edges_dst ON entity_edges (tenant, dst);
CREATE TABLE entity_seed (only INTEGER PRIMARY KEY CHECK (only = 1), digest TEXT NOT NULL);`

// sharedTables are those of PostgreSQL. Text is in the order of its bytes, as in SQLite. Where pg_trgm can be had, its index of the names
// takes the place of the trigrams among the terms; whether it is there says which of them this database has.
const sharedTables = `
CREATE TABLE entities (tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
	properties TEXT NOT NULL, PRIMARY KEY (tenant, id));
CREATE INDEX entities_type ON entities (tenant, type);
CREATE TABLE entity_names (tenant TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, fold TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, type, fold, id));
CREATE INDEX entity_names_id ON entity_names (tenant, id);
CREATE INDEX entity_names_fold ON entity_names (tenant, fold);
CREATE TABLE entity_terms (tenant TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL, term TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, type, term, id));
CREATE INDEX entity_terms_id ON entity_terms (tenant, id);
CREATE TABLE entity_edges (tenant TEXT COLLATE "C" NOT NULL, src TEXT COLLATE "C" NOT NULL, relation TEXT COLLATE "C" NOT NULL, dst TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, src, relation, dst));
CREATE INDEX entity_edges_dst ON entity_edges (tenant, dst);
CREATE TABLE entity_seed ("only" INTEGER PRIMARY KEY CHECK ("only" = 1), digest TEXT NOT NULL);
DO $$ BEGIN
	IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
		BEGIN
			CREATE EXTENSION pg_trgm SCHEMA public;
		EXCEPTION WHEN insufficient_privilege OR invalid_schema_name THEN
			CREATE EXTENSION pg_trgm;
		END;
	END IF;
	CREATE INDEX entity_names_trigrams ON entity_names USING gin (fold gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
	NULL; -- no such extension on this machine, or no right to make it
END $$;`
