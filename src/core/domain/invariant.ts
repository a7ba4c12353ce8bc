/** A bug in this program: a rule that the core itself guarantees does not hold. Nobody in the core catches it. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

export function invariant(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new InvariantViolation(rule);
}
