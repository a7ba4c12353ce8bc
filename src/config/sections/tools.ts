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

export const platformToolsetsSection = z
  .record(name, z.array(z.string()))
  .default({})
  .describe("The toolsets of a session that names none, by the session's source.");

export const toolsetsSection = z
  .record(name, z.array(z.string().min(1)))
  .default({})
  .describe(
    'Groups of tools. An entry is `server` (all its tools), `server.tool`, or `builtin.time`. A session keeps what its ' +
      'toolsets stood for when it was made.',
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
