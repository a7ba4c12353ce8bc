import type { Clock } from '../../../core/ports/clock.ts';
import type { ToolOutcome } from '../../../core/ports/tool-host.ts';
import { builtinServer } from './builtin-tool.ts';
import type { BuiltinTool } from './builtin-tool.ts';

/** A model has no clock. */
export function makeTimeTool(clock: Clock): BuiltinTool {
  return {
    descriptor: {
      name: 'time',
      description: 'Tells the current date and time, in UTC or in a given time zone.',
      parameters: {
        type: 'object',
        properties: {
          time_zone: { type: 'string', description: 'An IANA time zone such as Europe/Berlin. Default: UTC.' },
        },
        additionalProperties: false,
      },
      server: builtinServer,
      serverTool: 'time',
    },
    run(args) {
      const timeZone = args['time_zone'] ?? 'UTC';
      if (typeof timeZone !== 'string') return refused('`time_zone` must be a string such as "Europe/Berlin".');
      const format = timeFormat(timeZone);
      if (format === null)
        return refused(`There is no time zone "${timeZone.slice(0, 100)}". Use an IANA name such as "Europe/Berlin".`);
      return { kind: 'answered', text: describeTime(new Date(clock.now()), format), isError: false };
    },
  };
}

function refused(text: string): ToolOutcome {
  return { kind: 'answered', text, isError: true };
}

/** Null for a time zone that doesn't exist. */
function timeFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** `Tuesday 2030-01-01 13:00:00 +01:00 (Europe/Berlin)` */
function describeTime(instant: Date, format: Intl.DateTimeFormat): string {
  const part = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, value]));
  const date = `${part['year']}-${part['month']}-${part['day']}`;
  const time = `${part['hour']}:${part['minute']}:${part['second']}`;
  // UTC itself comes as plain `GMT`.
  const offset = part['timeZoneName']?.replace(/^GMT/, '') || '+00:00';
  return `${part['weekday']} ${date} ${time} ${offset} (${format.resolvedOptions().timeZone})`;
}
