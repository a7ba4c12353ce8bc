/** One thing that is wrong with the configuration, and where. It never repeats a value that could be a secret. */
export interface ConfigProblem {
  /** The file, or `environment`. */
  readonly file: string;
  /** Both count from 1. Null where there is no place to point at. */
  readonly line: number | null;
  readonly column: number | null;
  /** As `compression.threshold`, `gateway.allowed_origins[0]`, or the name of a variable. Null for the file as a whole. */
  readonly key: string | null;
  readonly message: string;
}

/** The configuration can't be used. It lists every problem that was found, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], options?: { cause?: unknown }) {
    super(problems.map(formatProblem).join('\n'), options);
    this.problems = problems;
  }
}

/** `config.yaml:3:5: compression.threshold: must be …` */
export function formatProblem({ file, line, column, key, message }: ConfigProblem): string {
  const place = line === null || column === null ? file : `${file}:${line}:${column}`;
  return key === null ? `${place}: ${message}` : `${place}: ${key}: ${message}`;
}

export function problemOf(file: string, message: string, key: string | null = null): ConfigProblem {
  return { file, line: null, column: null, key, message };
}
