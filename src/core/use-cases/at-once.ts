/** Runs tasks in the order in which they come, no more than `limit` at once. What a task throws is its caller's. */
export function makeAtOnce(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < limit) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      // The place goes from hand to hand, so that nobody who comes now can take it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
