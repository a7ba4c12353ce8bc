/**
 * Named places at which a test may stop, delay or kill the process. In production nothing is armed and a hit costs a
 * function call. The places are `<command>.before_commit`, `<command>.after_commit`, `<command>.after_publish`,
 * `model.before_send`, `model.first_event`, `model.after_answer` and the same three for `summary` and `title`,
 * `tool.before_call`, `tool.after_call`, `recovery.before`, `recovery.session`, `recovery.after`.
 */
export interface Failpoints {
  /** Resolves when the place may be passed; a kill never returns. */
  hit(name: string): Promise<void> | void;
}

export const noFailpoints: Failpoints = { hit: () => undefined };
