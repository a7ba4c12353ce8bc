import { exitCodes } from '../../config/exit-codes.ts';
import { CliFailure } from '../failure.ts';
import type { HomeOptions } from '../options.ts';

type Demo = (options: { readonly home: string | undefined; readonly json: boolean }) => Promise<number>;

export async function runDemo({ home, json }: HomeOptions): Promise<number> {
  // TODO: call it without asking as soon as main.ts exports it.
  const main: object = await import('../../main.ts');
  if (!('demo' in main)) throw new CliFailure(exitCodes.usage, 'usage', 'This version has no demo yet.');
  return (main.demo as Demo)({ home, json: json === true }); // what main.ts will export
}
