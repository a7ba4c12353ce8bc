import type Database from 'better-sqlite3';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { LearntWindow } from '../../../core/ports/ledger.ts';

/** What providers have stated of their models' windows: the newest word for each model at each address. */
export class LearntWindowsTable {
  readonly #learn: Database.Statement<[LearntRow]>;
  readonly #all: Database.Statement<[], LearntRow>;

  constructor(db: Database.Database) {
    this.#learn = db.prepare(
      `INSERT OR REPLACE INTO learnt_windows (provider, model, base_url, window_tokens, learnt_at)
       VALUES (@provider, @model, @base_url, @window_tokens, @learnt_at)`,
    );
    this.#all = db.prepare('SELECT provider, model, base_url, window_tokens, learnt_at FROM learnt_windows');
  }

  learn({ model, windowTokens, at }: Extract<SessionEvent, { type: 'window.learnt' }>): void {
    const { provider, model: name, baseUrl } = model;
    this.#learn.run({
      provider,
      model: name,
      base_url: baseUrl ?? '',
      window_tokens: windowTokens,
      learnt_at: at,
    });
  }

  all(): readonly LearntWindow[] {
    return this.#all.all().map((row) => ({
      model: { provider: row.provider, model: row.model, baseUrl: row.base_url === '' ? null : row.base_url },
      windowTokens: row.window_tokens,
      learntAt: row.learnt_at,
    }));
  }
}

interface LearntRow {
  readonly provider: string;
  readonly model: string;
  readonly base_url: string;
  readonly window_tokens: number;
  readonly learnt_at: string;
}
