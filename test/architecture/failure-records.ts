/* Compares docs/reference/failure-records.md with the titles of the tests that it names. */

export interface FailureRecord {
  /** A letter and a number, as a test names it at the end of its title. */
  readonly id: string;
  readonly files: readonly string[];
  /** What stands where the files would: why the kind doesn't apply. */
  readonly reason: string;
}

/** The rows of the tables. */
export function recordsOf(page: string): readonly FailureRecord[] {
  return [...page.matchAll(/^\| ([A-F]\d{1,2}) \| [^|]+ \| ([^|]*) \|$/gm)].map(([, id = '', shownBy = '']) => ({
    id,
    files: [...shownBy.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file),
    reason: shownBy.replace(/`[^`]*`|[\s,]/g, ''),
  }));
}

/** The kinds that the titles of a test file name. */
function namedKinds(source: string): ReadonlySet<string> {
  const groups = source.matchAll(/\(([A-F]\d{1,2}(?:, [A-F]\d{1,2})*)\)['"`]/g);
  return new Set([...groups].flatMap(([, ids = '']) => ids.split(', ')));
}

/** What is wrong between the page and the tests; `sources` holds the test files by their path. */
export function recordFaults(page: string, sources: ReadonlyMap<string, string>): readonly string[] {
  const records = recordsOf(page);
  const faults = records.flatMap(({ id, files, reason }, index) => [
    ...(records.findIndex((other) => other.id === id) === index ? [] : [`${id} is there twice`]),
    ...(files.length === 0 && reason === '' ? [`${id} has neither a test nor a reason`] : []),
    ...files.flatMap((file) => {
      const source = sources.get(file);
      if (source === undefined) return [`${id}: there is no ${file}`];
      return namedKinds(source).has(id) ? [] : [`${id}: ${file} does not name it`];
    }),
  ]);
  const named = [...sources].flatMap(([file, source]) => [...namedKinds(source)].map((id) => ({ id, file })));
  const missing = named.filter(({ id, file }) => !records.some((row) => row.id === id && row.files.includes(file)));
  return [...faults, ...missing.map(({ id, file }) => `${id}: the page does not name ${file}`)];
}
