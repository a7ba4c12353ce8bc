/** The lines of a daemon's output that tell of a fault. A gateway that is only killed has none. */
export function errorsIn(output: string): readonly string[] {
  return output
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => `the log says: ${line.slice(0, 2000)}`);
}
