import { describe, expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { formatProblem } from '../../../src/config/config-error.ts';
import type { Config } from '../../../src/config/schema.ts';

describe('a valid configuration', () => {
  test('may be empty, and then has every default', () => {
    const config = valid('');

    expect(config).toMatchObject({
      model: { provider: null, default: null, base_url: null, context_length: null, max_output_tokens: null },
      providers: {},
      compression: {
        enabled: true,
        protect_first_n: 3,
        protect_last_n: 20,
        threshold: 0.8,
        threshold_tokens: null,
        in_place: false,
      },
      gateway: {
        host: '127.0.0.1',
        port: 0,
        allowed_origins: [],
        multiplex_profiles: false,
        max_frame_bytes: 4 * 1024 * 1024,
        max_batch: 50,
        max_json_depth: 64,
        max_queued_per_session: 100,
        max_concurrent_turns: 16,
      },
      storage: { synchronous: 'full', allow_unsafe_filesystem: false },
      recovery: { on_unknown: 'hold', on_outage: 'hold' },
      shutdown: { drain_seconds: 10 },
      logging: { level: 'info', format: 'auto' },
    });
  });

  test('may be the one of the design, word for word', () => {
    const config = valid(`
model: { provider: custom, default: my-model, base_url: http://127.0.0.1:8000/v1, context_length: 64000 }
providers: {}
auxiliary: { compression: { provider: , model: , base_url: }, title_generation: { enabled: true } }
compression: { enabled: true, protect_first_n: 3, protect_last_n: 20, threshold: 0.8, threshold_tokens: null, in_place: false }
platform_toolsets: { cli: [] }
toolsets: {}
mcp_servers: {}
gateway: { host: 127.0.0.1, port: 0, allowed_origins: [], multiplex_profiles: false }
storage: { synchronous: full, allow_unsafe_filesystem: false }
recovery: { on_unknown: hold, on_outage: hold }
shutdown: { drain_seconds: 10 }
`);

    expect(config.model).toMatchObject({ provider: 'custom', default: 'my-model', context_length: 64_000 });
  });

  test('may be JSON', () => {
    expect(valid('{ "gateway": { "port": 7777 } }').gateway.port).toBe(7777);
  });

  test('may leave a section or a key empty, which means its default', () => {
    const config = valid('gateway:\ncompression:\n  threshold:\n  protect_first_n: 5\n');

    expect(config.gateway.host).toBe('127.0.0.1');
    expect(config.compression).toMatchObject({ threshold: 0.8, protect_first_n: 5 });
  });

  test('may use anchors', () => {
    expect(valid('toolsets: { a: &tools [builtin], b: *tools }').toolsets).toEqual({ a: ['builtin'], b: ['builtin'] });
  });
});

describe('an unknown key', () => {
  test('is refused with its line, its column and the nearest key', () => {
    expect(problems('compression:\n  treshold: 0.5\n')).toEqual([
      'config.yaml:2:3: compression.treshold: is not a known key; did you mean `threshold`?',
    ]);
  });

  test('is compared without regard to case, dashes and two swapped letters', () => {
    expect(problems('Gateway: {}\ngatewya: {}\ngateway: { max-batch: 1 }\n')).toEqual([
      'config.yaml:1:1: Gateway: is not a known key; did you mean `gateway`?',
      'config.yaml:2:1: gatewya: is not a known key; did you mean `gateway`?',
      'config.yaml:3:12: gateway.max-batch: is not a known key; did you mean `max_batch`?',
    ]);
  });

  test('that belongs elsewhere is told where', () => {
    expect(problems('port: 7777\n')).toEqual([
      'config.yaml:1:1: port: is not a known key here; did you mean `gateway.port`?',
    ]);
  });

  test('that resembles nothing is told what is known', () => {
    expect(problems('recovery: { zzzzzzzz: 1 }')).toEqual([
      'config.yaml:1:13: recovery.zzzzzzzz: is not a known key; known here: on_unknown, on_outage',
    ]);
  });

  test('may have a name that JavaScript gives a meaning', () => {
    expect(problems('__proto__: { gateway: 1 }\nconstructor: 1\n')).toHaveLength(2);
  });
});

describe('a wrong value', () => {
  test.each([
    ['gateway: { port: "7777" }', '1:18: gateway.port: must be a number, and is text; leave out the quotes'],
    ['gateway: { port: 1.5 }', '1:18: gateway.port: must be a whole number, and is a number with a fraction'],
    ['gateway: { port: 70000 }', '1:18: gateway.port: must be at most 65535'],
    ['gateway: [1]', '1:10: gateway: must be a mapping of keys, and is a list'],
    ['gateway: { multiplex_profiles: true }', '1:32: gateway.multiplex_profiles: only `false` is supported'],
    [
      'gateway: { allowed_origins: [https://a.example, "https://b.example/x"] }',
      '1:49: gateway.allowed_origins[1]: must be an origin such as https://app.example.org, without a path',
    ],
    ['compression: { threshold: 0 }', '1:27: compression.threshold: must be more than 0'],
    ['compression: { threshold: 80 }', '1:27: compression.threshold: must be at most 1'],
    ['compression: { threshold: .nan }', '1:27: compression.threshold: must be a number, and is not a number'],
    ['compression: { enabled: yes }', '1:25: compression.enabled: must be true or false, and is text'],
    [
      'storage: { synchronous: Full }',
      '1:25: storage.synchronous: must be one of `full`, `normal`; did you mean `full`?',
    ],
    ['mcp_servers: { files: {} }', '1:23: mcp_servers.files: needs either `command` or `url`'],
    [
      'mcp_servers: { files: { command: x, url: http://127.0.0.1:1/mcp } }',
      '1:23: mcp_servers.files: needs either `command` or `url`',
    ],
    ['mcp_servers: { builtin: { command: x } }', '1:16: mcp_servers.builtin: is the name of the built-in tools'],
    [
      'mcp_servers: { files: { command: x, pass_env: ["a value"] } }',
      '1:48: mcp_servers.files.pass_env[0]: must be the name of an environment variable, not its value',
    ],
    ['- 1', '1:1: must be a mapping of keys, and is a list'],
    ['just text', '1:1: must be a mapping of keys, and is text'],
  ])('is refused with its place and the reason: %s', (text, expected) => {
    expect(problems(text)).toEqual([`config.yaml:${expected}`]);
  });

  test('never costs the others their mention', () => {
    expect(
      problems(`
model:
  context_length: 1000
  max_output_tokens: 1000
compression:
  threshold: 2
  threshold_tokens: 1001
gateway: { port: -1, hots: x }
`),
    ).toEqual([
      'config.yaml:4:22: model.max_output_tokens: (1000) must be smaller than model.context_length (1000): the answer would leave no room for a prompt',
      'config.yaml:6:14: compression.threshold: must be at most 1',
      "config.yaml:7:21: compression.threshold_tokens: (1001) must not be greater than model.context_length (1000): a transcript can't grow that long",
      'config.yaml:8:18: gateway.port: must be at least 0',
      'config.yaml:8:22: gateway.hots: is not a known key; did you mean `host`?',
    ]);
  });

  test('causes no second problem where only the first one counts', () => {
    expect(problems('model: { provider: custom, default: m, base_url: nonsense }')).toEqual([
      'config.yaml:1:50: model.base_url: must be an address such as http://127.0.0.1:8000/v1',
    ]);
  });
});

describe('a provider', () => {
  const local = 'providers: { local: { kind: openai-compatible, base_url: "http://h/v1" } }\n';

  test('of a kind that is not supported is refused with what is', () => {
    expect(problems('providers: { a: { kind: telepathy, base_url: "https://h" } }')).toEqual([
      'config.yaml:1:25: providers.a.kind: this kind of provider is not supported by this version; supported: openai, openai-compatible, anthropic, google',
    ]);
  });

  test('needs a kind', () => {
    expect(problems('providers:\n  a: {}\n')).toEqual(['config.yaml:2:6: providers.a.kind: is missing']);
  });

  test('needs an address where no vendor stands behind its kind', () => {
    expect(problems('providers:\n  a: { kind: openai-compatible }\n  b: { kind: anthropic }\n')).toEqual([
      'config.yaml:2:6: providers.a.base_url: is missing: `kind: openai-compatible` needs the address of its server',
    ]);
  });

  test('has one key and the options of its own kind', () => {
    expect(
      problems('providers:\n  a: { kind: google, interface: chat, api_key_env: A, api_key_file: b }\n').map((problem) =>
        problem.replace(/^config.yaml:\d+:\d+: /, ''),
      ),
    ).toEqual([
      'providers.a.interface: means something with `kind: openai` only',
      'providers.a.api_key_file: and `api_key_env` name the same key twice; keep one of them',
    ]);
  });

  test('that nobody configured is no fallback', () => {
    expect(
      problems(`${local}model: { provider: local, default: m, fallbacks: [{ provider: locl, model: m }] }`),
    ).toEqual([
      expect.stringContaining(
        "model.fallbacks[0].provider: names a provider that `providers` doesn't define; did you mean `local`?",
      ),
    ]);
    expect(
      problems(`${local}model: { provider: local, default: m, fallbacks: [{ provider: demo, model: demo }] }`),
    ).toEqual([]);
  });

  test.each(['custom', 'demo'])('may not be called like the built-in %s', (name) => {
    expect(problems(`providers: { ${name}: { kind: openai-compatible, base_url: "http://h" } }`)).toEqual([
      `config.yaml:1:14: providers.${name}: is the name of a built-in provider`,
    ]);
  });

  test('that nobody defined is refused with the nearest one', () => {
    expect(problems(`${local}model: { provider: locl, default: m }`)).toEqual([
      "config.yaml:2:20: model.provider: names a provider that `providers` doesn't define; did you mean `local`?",
    ]);
  });

  test('needs a model', () => {
    expect(problems(`${local}model: { provider: local }`)).toEqual([
      'config.yaml:2:8: model.default: is missing: name the model',
    ]);
  });

  test('`custom` needs an address', () => {
    expect(problems('model: { provider: custom, default: m }')).toEqual([
      'config.yaml:1:8: model.base_url: is missing: `provider: custom` needs the address of its server',
    ]);
  });

  test('that was forgotten is missed', () => {
    expect(problems('model: { default: m, base_url: "http://h/v1" }')).toEqual([
      'config.yaml:1:19: model.default: means nothing without `model.provider`; for an OpenAI-compatible server write `provider: custom`',
    ]);
  });

  test('never gets another address than its own', () => {
    expect(problems(`${local}model: { provider: local, default: m, base_url: "http://other/v1" }`)).toEqual([
      'config.yaml:2:49: model.base_url: belongs to `provider: custom` only; the address of `local` is fixed elsewhere',
    ]);
  });

  test('`custom` may be the fallback of a named one: `model.base_url` is its address then', () => {
    const fallback = 'fallbacks: [{ provider: custom, model: m }]';
    expect(
      problems(`${local}model: { provider: local, default: m, base_url: "http://other/v1", ${fallback} }`),
    ).toEqual([]);
    expect(problems(`${local}model: { provider: local, default: m, ${fallback} }`)).toHaveLength(1);
  });

  test('has models whose windows leave room for a prompt, the default one and all others', () => {
    const entry = (says: string): string => `providers: { p: { kind: anthropic, models: { m: { ${says} } } } }`;
    expect(problems(entry('context_length: 1000, max_output_tokens: 2000'))).toEqual([
      expect.stringContaining(
        'providers.p.models.m.max_output_tokens: (2000) must be smaller than providers.p.models.m.context_length (1000)',
      ),
    ]);
    expect(
      problems(`${entry('context_length: 1000')}\nmodel: { provider: p, default: m, max_output_tokens: 2000 }`),
    ).toEqual([
      expect.stringContaining(
        'model.max_output_tokens: (2000) must be smaller than providers.p.models.m.context_length (1000)',
      ),
    ]);
    expect(problems(`${local}model: { provider: local, default: m, context_length: 1 }`)).toEqual([
      expect.stringContaining('model.context_length: (1) must be at least 256'),
    ]);
    expect(problems(entry('context_length: 1000, max_output_tokens: 999'))).toEqual([]);
  });

  test('for titles obeys the same rules', () => {
    expect(problems('auxiliary: { title_generation: { enabled: true, base_url: "http://h/v1" } }')).toEqual([
      'config.yaml:1:59: auxiliary.title_generation.base_url: means nothing without `auxiliary.title_generation.provider`; for an OpenAI-compatible server write `provider: custom`',
    ]);
    expect(problems('auxiliary: { title_generation: { provider: nobody, model: m } }')).toHaveLength(1);
  });

  test('for summaries obeys the same rules', () => {
    expect(problems('auxiliary: { compression: { provider: custom, model: m } }')).toEqual([
      'config.yaml:1:27: auxiliary.compression.base_url: is missing: `provider: custom` needs the address of its server',
    ]);
    expect(problems('auxiliary: { compression: { provider: nobody, model: m } }')).toEqual([
      "config.yaml:1:39: auxiliary.compression.provider: names a provider that `providers` doesn't define; known: custom, demo",
    ]);
    expect(problems(`${local}auxiliary: { compression: { provider: local } }`)).toEqual([
      "config.yaml:2:27: auxiliary.compression.model: is missing: the session's model is one of another provider",
    ]);
  });
});

describe('a secret that was written into the file by mistake', () => {
  const secret = 'sk-1234567890abcdef';

  test.each([
    `providers: { a: { kind: openai-compatible, base_url: "http://h", api_key: ${secret} } }`,
    `providers: { a: { kind: openai-compatible, base_url: "http://h", api_key_env: ${secret} } }`,
    `providers: { a: { kind: openai-compatible, base_url: "http://user:${secret}@h" } }`,
    `model: { provider: custom, default: m, base_url: "http://h/?key=${secret}" }`,
    `model: { provider: custom, default: m, base_url: ${secret} }`,
    `gateway: { token: ${secret} }`,
    `model: { api_key: !!secret ${secret} }`,
    `model: [ ${secret}\n`,
  ])('is not repeated in any problem: %s', (text) => {
    const found = problems(text);

    expect(found).not.toEqual([]);
    expect(found.join()).not.toContain(secret);
  });

  test('gets the hint where it belongs', () => {
    expect(
      problems('providers: { a: { kind: openai-compatible, base_url: "http://h", api_key: x } }').join(),
    ).toContain('did you mean `api_key_env`?');
  });
});

describe('toolsets', () => {
  test('must be defined before a platform gets them', () => {
    expect(problems('toolsets: { files: [builtin] }\nplatform_toolsets: { cli: [flies] }')).toEqual([
      "config.yaml:2:28: platform_toolsets.cli[0]: names a toolset that `toolsets` doesn't define; did you mean `files`?",
    ]);
  });

  test('may name a server, one of its tools, and the built-in ones', () => {
    const servers = 'mcp_servers: { files: { command: x } }';
    const { toolsets } = valid(`toolsets: { all: [files, files.read, builtin, builtin.time] }\n${servers}`);

    expect(toolsets).toEqual({ all: ['files', 'files.read', 'builtin', 'builtin.time'] });
  });

  test.each(['constructor', 'toString.x', 'files.', 'files..x'])('know no server or tool called %s', (entry) => {
    expect(problems(`toolsets: { all: [${entry}] }\nmcp_servers: { files: { command: x } }`)).toHaveLength(1);
  });

  test.each([
    ['flies', 'did you mean `files`?'],
    ['web.fetch', 'known: files, builtin, builtin.search_history, builtin.time'],
    ['builtin.tine', 'did you mean `builtin`?'],
  ])('name only servers that are configured: %s', (entry, hint) => {
    expect(problems(`toolsets: { all: [${entry}] }\nmcp_servers: { files: { command: x } }`)).toEqual([
      `config.yaml:1:19: toolsets.all[0]: names a tool of a server that \`mcp_servers\` doesn't define; ${hint}`,
    ]);
  });
});

describe('text that is no YAML', () => {
  test.each([
    ['a: [1,\n', /^config\.yaml:\d+:\d+: not valid YAML: /],
    ['gateway:\n\thost: x\n', /^config\.yaml:2:1: not valid YAML: tabs are not allowed/],
    ['gateway: {}\ngateway: {}\n', /^config\.yaml:2:1: not valid YAML: map keys must be unique/],
    ['---\ngateway: {}\n---\nmodel: {}\n', /^config\.yaml:3:1: not valid YAML: source contains multiple documents/],
    ['gateway: !custom {}', /^config\.yaml:1:10: not valid YAML: unresolved tag/],
    ['gateway: *nothing', /^config\.yaml:1:10: not valid YAML: alias to no anchor/],
  ])('is refused with its line: %j', (text, expected) => {
    expect(problems(text).join('\n')).toMatch(expected);
  });

  test('cannot use up the memory with aliases of aliases', () => {
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 20 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(10)}]`),
    ];

    expect(problems(bomb.join('\n')).join()).toMatch(/excessive alias count/i);
  });
});

function problems(text: string): readonly string[] {
  const checked = checkConfig(text, 'config.yaml');
  return checked.kind === 'invalid' ? checked.problems.map(formatProblem) : [];
}

function valid(text: string): Config {
  const checked = checkConfig(text, 'config.yaml');
  if (checked.kind === 'invalid') throw new Error(checked.problems.map(formatProblem).join('\n'));
  return checked.config;
}
