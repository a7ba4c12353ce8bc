import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { unfinishedSql } from '../../../src/adapters/outbound/sqlite/ledger-reads.ts';
import { migrate } from '../../../src/adapters/outbound/sqlite/migrations.ts';
import { makeReader } from '../../../src/adapters/outbound/sqlite/reads.ts';
import { SqliteStore } from '../../../src/adapters/outbound/sqlite/store.ts';

/** Scans that cost what is open or unknown at the moment, or what a statement was given, and not what is stored. */
const boundedScans = [
  /^SCAN session_admissions USING (COVERING )?INDEX admissions_(open|unknown)$/,
  /^SCAN compressions USING COVERING INDEX compressions_open$/,
  /^SCAN sessions USING COVERING INDEX sessions_held_until$/,
  // One row for each model; read at the start.
  /^SCAN learnt_windows$/,
  /^SCAN json_each /,
  /^SCAN \(?subquery-\d+\)?$/,
  /^SCAN sqlite_sequence$/,
  /^SCAN lineage$/,
];

/** Sorts of what a LIMIT, one session or what is open has bounded before. */
const sortingStatements = [/status <> 'terminal'/, /ORDER BY min\(oldest\)/];

describe('no statement of the ledger or of the queries', () => {
  const statements = allStatements();

  test('is missing from this check', () => {
    expect(statements.length).toBeGreaterThan(40);
  });

  test.each(statements.map(({ sql, plan }) => [oneLine(sql), plan] as const))(
    'reads a whole table: %s',
    (_sql, plan) => {
      const scans = plan.filter((step) => step.startsWith('SCAN'));
      expect(scans.filter((scan) => !boundedScans.some((bounded) => bounded.test(scan)))).toEqual([]);
    },
  );

  test('sorts a table', () => {
    const sorting = statements.filter(({ plan }) => plan.some((step) => step.startsWith('USE TEMP B-TREE')));
    expect(sorting.filter(({ sql }) => !sortingStatements.some((known) => known.test(sql)))).toEqual([]);
  });
});

test('what recovery reads depends on what is unfinished: it uses only the indexes that hold nothing else', () => {
  const db = aDatabase();

  const steps = planOf(db, unfinishedSql).filter((step) =>
    /session_admissions|compressions|sessions|messages/.test(step),
  );

  expect(steps).toEqual([
    'SCAN session_admissions USING COVERING INDEX admissions_open',
    'SCAN compressions USING COVERING INDEX compressions_open',
    'SCAN sessions USING COVERING INDEX sessions_held_until',
  ]);
  db.close();
});

test('a check that reads a whole table would be noticed', () => {
  const db = aDatabase();
  expect(planOf(db, 'SELECT * FROM messages WHERE content = ?')).toEqual(['SCAN messages']);
  db.close();
});

interface Planned {
  readonly sql: string;
  readonly plan: readonly string[];
}

/** Everything that the adapter prepares, with SQLite's plan for it. */
function allStatements(): readonly Planned[] {
  const db = aDatabase();
  const prepared = new Set<string>();
  const recording = new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          prepared.add(sql);
          return target.prepare(sql);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  new SqliteStore(recording);
  makeReader(recording);
  const planned = [...prepared].map((sql) => ({ sql, plan: planOf(db, sql) }));
  db.close();
  return planned.filter(({ plan }) => plan.length > 0);
}

function planOf(db: Database.Database, sql: string): readonly string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null] as const);
  const marks: null[] = [...sql.matchAll(/\?/g)].map(() => null);
  const explain = db.prepare<unknown[], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const given: unknown[] = names.length > 0 ? [Object.fromEntries(names)] : marks;
  return explain.all(...given).map(({ detail }) => detail.trim());
}

function aDatabase(): Database.Database {
  const db = new Database(':memory:');
  migrate(db);
  return db;
}

function oneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}
