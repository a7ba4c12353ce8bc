import { z } from 'zod';
import { count, seconds } from './values.ts';

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must consist of letters, digits, `-`, `_` and `.`');

const serverName = z
  .string()
  .max(40)
  .regex(/^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$/, 'must consist of letters and digits, with single `-` or `_` between them')
  .refine((text) => text !== 'builtin', 'is the name of the built-in tools');

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not its value');
const header = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not the name of a header');
const line = z.string().regex(/^[^\r\n\0]*$/, 'must be one line');

const approval = z.enum(['always', 'ask', 'never']);

export const approvalsSection = z
  .strictObject({
    expiry_seconds: seconds(600, 1, 604_800).describe(
      'How long a call waits for an answer. Then the model is told that it was not approved in time.',
    ),
    max_open_per_session: count(16, 1, 1_000).describe(
      'The most calls of one session that wait at once; what the model asks for beyond it is answered with an error.',
    ),
  })
  .prefault({})
  .describe('Calls that wait for an approval. A turn that waits for one keeps its place among the running turns.');

export const turnsSection = z
  .strictObject({
    max_steps: count(100, 1, 10_000).describe(
      'The most requests to the model in one turn. A turn that goes on asking for tools after them fails as `max_steps`.',
    ),
    max_calls_per_step: count(128, 1, 10_000).describe(
      'The most tool calls that one answer may start; what it asks for beyond them is answered with an error.',
    ),
    max_parallel_calls: count(16, 1, 1_000).describe('The most tool calls of one turn that run at once; others wait.'),
  })
  .prefault({})
  .describe('How far one turn may go.');

export const platformToolsetsSection = z
  .record(name, z.array(z.string()))
  .default({})
  .describe("The toolsets of a session that names none, by the session's source.");

export const toolsetsSection = z
  .record(name, z.array(z.string().min(1)))
  .default({})
  .describe(
    'Groups of tools. An entry is `server` (all its tools), `server.tool`, `builtin.time` or `builtin.search_history`. A session ' +
      'keeps what its toolsets stood for when it was made.',
  );

export const mcpServersSection = z
  .record(
    serverName,
    z
      .strictObject({
        command: z.string().min(1).nullable().default(null).describe('A program that speaks MCP on stdin and stdout.'),
        args: z.array(z.string()).default([]).describe('Its arguments.'),
        cwd: z.string().min(1).nullable().default(null).describe('Its working folder.'),
        env: z
          .record(variable, z.string())
          .default({})
          .describe('Variables that it gets beside PATH and HOME. Their values count as secrets.'),
        pass_env: z.array(variable).default([]).describe("Variables of the gateway's own environment that it gets."),
        url: z
          .url({ protocol: /^https?$/ })
          .nullable()
          .default(null)
          .describe('The address of a server that speaks streamable HTTP.'),
        headers: z.record(header, line).default({}).describe('Headers of each request. Their values count as secrets.'),
        headers_env: z
          .record(header, variable)
          .default({})
          .describe('Headers whose values are in variables of the environment.'),
        approval: approval
          .default('always')
          .describe(
            'Whether its tools run: `always` without asking, `ask` after somebody has approved the call, `never`. ' +
              'For the calls that no rule fits.',
          ),
        approval_rules: z
          .array(
            z.strictObject({
              tool: z.string().min(1).default('*').describe('The name of a tool; `*` stands for any text.'),
              arguments: z
                .record(z.string().min(1), z.string())
                .default({})
                .describe(
                  'Patterns for arguments, by name or by path (`options.mode`). All must fit the whole value; `*` stands for ' +
                    'any text, and an argument that is missing fits nothing.',
                ),
              approval: approval.describe('What becomes of a call that fits.'),
            }),
          )
          .max(1_000)
          .default([])
          .describe('Single tools and uses of them; the first rule that fits decides.'),
        timeout_seconds: seconds(120, 0.001, 86_400).describe('The longest time for one call.'),
        startup_timeout_seconds: seconds(30, 0.001, 3_600).describe('The longest time until it is ready.'),
        max_output_bytes: count(8 * 1024 * 1024, 1_024, 268_435_456).describe(
          'The largest result; what is longer is cut and marked.',
        ),
      })
      .superRefine((server, context) => {
        if ((server.command === null) !== (server.url === null)) return;
        context.addIssue({ code: 'custom', message: 'needs either `command` or `url`' });
      }),
  )
  .default({})
  .describe('MCP servers, by name. They are started when a turn first needs them.');
