import type { HomeOptions } from '../options.ts';
import { orRefusedLater } from '../refused-configuration.ts';

/** Runs the gateway in this process until it stops, and answers its exit code. */
export async function runServe({ home, json }: HomeOptions): Promise<number> {
  const { serve } = await import('../../main.ts');
  return orRefusedLater(() => serve({ home, json: json === true }));
}
