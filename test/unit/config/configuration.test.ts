import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { auxiliaryTarget, defaultTarget, secretValues } from '../../../src/config/model-endpoints.ts';
import { fallbacksOf, modelSettings, namedModels } from '../../../src/config/model-settings.ts';
import { temporaryHome } from './temporary-home.ts';

const initial = { ...process.env };
beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'HOLDFAST_LOG_LEVEL', 'HOLDFAST_FAILPOINTS', 'LOCAL_KEY'])
    delete process.env[name];
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in initial)) delete process.env[name];
  Object.assign(process.env, initial);
});

describe('a home without a file', () => {
  test('has the demo model, and says so', () => {
    const { found, config, endpoints, notices, logLevel } = readConfiguration(temporaryHome());

    expect(found).toBe(false);
    expect(defaultTarget(config)).toEqual({ provider: 'demo', model: 'demo', baseUrl: null });
    expect(endpoints.map(({ kind }) => kind)).toEqual(['demo']);
    expect(notices).toEqual([{ level: 'info', message: expect.stringContaining('built-in demo model') as string }]);
    expect(logLevel).toBe('info');
  });

  test('need not even exist, and is not created', () => {
    expect(readConfiguration(join(temporaryHome(), 'nothing')).found).toBe(false);
  });
});

describe('the key of a provider', () => {
  test('comes from the environment and belongs to the addresses that the configuration names', () => {
    process.env['OPENAI_API_KEY'] = 'key-of-custom';
    process.env['LOCAL_KEY'] = 'key-of-local';
    const home = homeWith(`
model: { provider: custom, default: m, base_url: http://127.0.0.1:8000/v1/ }
providers: { local: { kind: openai-compatible, base_url: "http://h/v1", api_key_env: LOCAL_KEY, headers: { X-Team: team-secret } } }
auxiliary: { compression: { provider: local, model: small } }
`);

    const { endpoints, config, notices } = readConfiguration(home);

    expect(endpoints.map(({ provider, baseUrl, apiKey }) => ({ provider, baseUrl, apiKey }))).toEqual([
      { provider: 'custom', baseUrl: 'http://127.0.0.1:8000/v1', apiKey: 'key-of-custom' },
      { provider: 'local', baseUrl: 'http://h/v1', apiKey: 'key-of-local' },
      { provider: 'demo', baseUrl: null, apiKey: null },
    ]);
    expect(defaultTarget(config)).toEqual({ provider: 'custom', model: 'm', baseUrl: 'http://127.0.0.1:8000/v1' });
    expect(auxiliaryTarget(config, 'compression')).toEqual({
      provider: 'local',
      model: 'small',
      baseUrl: 'http://h/v1',
    });
    expect(secretValues(endpoints)).toEqual(['key-of-custom', 'key-of-local', 'team-secret']);
    expect(notices).toEqual([]);
  });

  test('that is missing is told by the name of its variable', () => {
    const home = homeWith(
      'providers: { local: { kind: openai-compatible, base_url: "http://h/v1", api_key_env: LOCAL_KEY } }\nmodel: { provider: local, default: m }',
    );

    expect(readConfiguration(home).notices).toEqual([
      { level: 'warn', message: 'The variable LOCAL_KEY is not set, so the provider `local` is asked without a key.' },
    ]);
  });

  test('comes from a file of its own, which may stand in the home folder', () => {
    const home = homeWith('providers: { claude: { kind: anthropic, api_key_file: keys/claude } }');
    mkdirSync(join(home, 'keys'));
    writeFileSync(join(home, 'keys', 'claude'), 'sk-from-file\n');

    const { endpoints, notices } = readConfiguration(home);

    expect(endpoints[0]).toEqual({
      provider: 'claude',
      kind: 'anthropic',
      interface: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      apiKeyVariable: null,
      apiKey: 'sk-from-file',
      headers: {},
    });
    expect(secretValues(endpoints)).toContain('sk-from-file');
    expect(notices.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('that a file should hold and does not is a problem of the configuration', () => {
    const home = homeWith('providers: { claude: { kind: anthropic, api_key_file: key } }');
    expect(() => readConfiguration(home)).toThrow(/providers\.claude\.api_key_file: names .*key, which can't be read/);

    writeFileSync(join(home, 'key'), '\n');
    expect(() => readConfiguration(home)).toThrow(/which is empty/);

    writeFileSync(join(home, 'key'), 'two words');
    expect(() => readConfiguration(home)).toThrow(/which holds more than a key/);
    expect(() => readConfiguration(home)).not.toThrow(/two words/);
  });

  test('that a vendor needs and nobody names is told', () => {
    const home = homeWith(
      'providers: { gemini: { kind: google } }\nmodel: { provider: gemini, default: gemini-3-pro }',
    );

    expect(readConfiguration(home).notices).toEqual([
      {
        level: 'warn',
        message: 'The provider `gemini` has neither api_key_env nor api_key_file: it is asked without a key.',
      },
    ]);
  });

  test('is not given to the summary model of another provider, which has its own address', () => {
    process.env['OPENAI_API_KEY'] = 'key-of-custom';
    const home = homeWith(`
model: { provider: demo }
auxiliary: { compression: { provider: custom, model: small, base_url: http://h/v1 } }
`);

    const { config, endpoints } = readConfiguration(home);

    expect(endpoints.map(({ provider, baseUrl }) => [provider, baseUrl])).toEqual([
      ['custom', 'http://h/v1'],
      ['demo', null],
    ]);
    expect(auxiliaryTarget(config, 'compression')).toEqual({
      provider: 'custom',
      model: 'small',
      baseUrl: 'http://h/v1',
    });
  });

  test('is given to the address of titles too, and titles are made only where they are asked for', () => {
    process.env['OPENAI_API_KEY'] = 'key-of-custom';
    const home = homeWith(`
model: { provider: custom, default: large, base_url: http://h/v1 }
auxiliary: { title_generation: { enabled: true, provider: custom, model: small, base_url: http://t/v1 } }
`);

    const { config, endpoints } = readConfiguration(home);

    expect(endpoints.map(({ provider, baseUrl }) => [provider, baseUrl])).toEqual([
      ['custom', 'http://h/v1'],
      ['custom', 'http://t/v1'],
      ['demo', null],
    ]);
    expect(auxiliaryTarget(config, 'title_generation')).toEqual({
      provider: 'custom',
      model: 'small',
      baseUrl: 'http://t/v1',
    });
    expect(readConfiguration(temporaryHome()).config.auxiliary.title_generation.enabled).toBe(false);
  });

  test("the summary model is the session's own where none is named", () => {
    expect(auxiliaryTarget(readConfiguration(temporaryHome()).config, 'compression')).toBeNull();
    expect(
      auxiliaryTarget(
        readConfiguration(homeWith('auxiliary: { compression: { model: other } }')).config,
        'compression',
      ),
    ).toEqual({
      provider: 'demo',
      model: 'other',
      baseUrl: null,
    });
  });
});

describe('a model', () => {
  const home = () =>
    homeWith(`
model: { provider: oai, default: gpt-5, temperature: 0.2, fallbacks: [{ provider: claude, model: sonnet }] }
providers:
  oai:
    kind: openai
    models: { gpt-5: { context_length: 100000, temperature: 1, reasoning_effort: high }, o3: { images: false } }
  chat: { kind: openai, interface: chat, base_url: "http://h/v1/" }
  claude:
    kind: anthropic
    models: { sonnet: { max_output_tokens: 9000, options: { speed: fast } } }
    fallbacks: [{ provider: oai, model: o3 }, { provider: claude, model: sonnet }]
`);

  test('has what its entry says, and the default one first what `model` says', () => {
    const { config, endpoints } = readConfiguration(home());

    expect(endpoints.map((each) => [each.provider, each.interface, each.baseUrl])).toEqual([
      ['oai', 'openai-responses', 'https://api.openai.com/v1'],
      ['chat', 'openai-chat', 'http://h/v1'],
      ['claude', 'anthropic', 'https://api.anthropic.com/v1'],
      ['demo', 'demo', null],
    ]);
    expect(modelSettings(config, 'oai', 'gpt-5')).toEqual({
      contextTokens: 100_000,
      outputTokens: null,
      images: null,
      files: null,
      temperature: 0.2,
      reasoningEffort: 'high',
      alternatingRoles: null,
      options: {},
    });
    expect(modelSettings(config, 'claude', 'sonnet')).toMatchObject({ outputTokens: 9000, options: { speed: 'fast' } });
    expect(modelSettings(config, 'claude', 'unheard-of')).toMatchObject({ outputTokens: null, options: {} });
  });

  test('has the fallbacks of its own, else of its provider, and is never its own', () => {
    const { config } = readConfiguration(home());
    const claude = 'https://api.anthropic.com/v1';
    const oai = 'https://api.openai.com/v1';

    expect(fallbacksOf(config, 'oai', 'gpt-5')).toEqual([{ provider: 'claude', model: 'sonnet', baseUrl: claude }]);
    expect(fallbacksOf(config, 'claude', 'sonnet')).toEqual([{ provider: 'oai', model: 'o3', baseUrl: oai }]);
    expect(fallbacksOf(config, 'oai', 'o3')).toEqual([]);
    expect(namedModels(config).map(({ provider, model }) => `${provider}/${model}`)).toEqual([
      'oai/gpt-5',
      'claude/sonnet',
      'oai/o3',
    ]);
  });
});

describe('the .env file of the home folder', () => {
  test('is read, and what is set in the environment wins', () => {
    process.env['LOCAL_KEY'] = 'from-environment';
    const home = homeWith('model: { provider: custom, default: m, base_url: http://h/v1 }');
    writeFileSync(join(home, '.env'), 'LOCAL_KEY=from-file\nOPENAI_API_KEY="from-file"\nHOLDFAST_LOG_LEVEL=\n');

    const { environment, endpoints, logLevel } = readConfiguration(home);

    expect(environment.getNamed('LOCAL_KEY')).toBe('from-environment');
    expect(endpoints[0]?.apiKey).toBe('from-file');
    expect(logLevel).toBe('info');
  });

  test('fills a variable that is set to nothing: it counts as one that is not set', () => {
    process.env['OPENAI_API_KEY'] = '';
    const home = homeWith('model: { provider: custom, default: m, base_url: http://h/v1 }');
    writeFileSync(join(home, '.env'), 'OPENAI_API_KEY=from-file\n');

    expect(readConfiguration(home).endpoints[0]?.apiKey).toBe('from-file');
  });

  test('that cannot be read is a problem of the configuration', () => {
    const home = temporaryHome();
    mkdirSync(join(home, '.env'));

    expect(() => readConfiguration(home)).toThrow(`${join(home, '.env')}: is a folder and not a file`);
  });
});

describe('HOLDFAST_LOG_LEVEL', () => {
  test('overrides the file', () => {
    process.env['HOLDFAST_LOG_LEVEL'] = 'debug';

    expect(readConfiguration(homeWith('logging: { level: error }')).logLevel).toBe('debug');
  });

  test('is listed with everything else that is wrong', () => {
    process.env['HOLDFAST_LOG_LEVEL'] = 'debgu';

    expect(problemsOf(homeWith('gateway: { port: -1 }'))).toEqual([
      'gateway.port: must be at least 0',
      'HOLDFAST_LOG_LEVEL: must be one of debug, info, warn, error; did you mean `debug`?',
    ]);
  });
});

describe('HOLDFAST_FAILPOINTS', () => {
  test('arms what it names, and nothing is armed without it', () => {
    expect(readConfiguration(temporaryHome()).failpoints).toEqual([]);
    process.env['HOLDFAST_FAILPOINTS'] = 'settle.before_commit:kill';
    expect(readConfiguration(temporaryHome()).failpoints).toHaveLength(1);
  });

  test('that is not understood stops the start', () => {
    process.env['HOLDFAST_FAILPOINTS'] = 'settle.before_commit:explode';

    expect(problemsOf(temporaryHome())).toEqual([
      'HOLDFAST_FAILPOINTS: `settle.before_commit:explode` is not name:action[@n] with action kill, throw or delay=MS',
    ]);
  });
});

describe('a variable that an MCP server is to get', () => {
  test('and that is not set is told by its name', () => {
    process.env['LOCAL_KEY'] = 'is-set';
    const { notices } = readConfiguration(
      homeWith(`
mcp_servers:
  web: { url: "http://127.0.0.1:1/mcp", headers_env: { Authorization: NO_SUCH_HEADER, X-Key: LOCAL_KEY } }
  files: { command: x, pass_env: [NO_SUCH_VARIABLE, LOCAL_KEY] }
`),
    );

    expect(notices.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'The variable NO_SUCH_HEADER is not set, so the MCP server `web` starts without the header Authorization.',
      'The variable NO_SUCH_VARIABLE is not set, so the MCP server `files` starts without it.',
    ]);
  });
});

describe('a file that cannot be used', () => {
  test.each(['config.yaml', '.env'])(
    'may be a link to nothing: then its owner meant another one than the defaults: %s',
    (name) => {
      const home = temporaryHome();
      symlinkSync(join(home, 'nowhere'), join(home, name));

      expect(() => readConfiguration(home)).toThrow(`${name}: is a link to a file that is not there`);
    },
  );

  test('names itself in every problem', () => {
    const home = homeWith('a: 1\n\nb: 2\n');

    expect(() => readConfiguration(home)).toThrow(`${join(home, 'config.yaml')}:3:1: b: is not a known key`);
  });

  test('may be a folder, or no text', () => {
    const folder = temporaryHome();
    mkdirSync(join(folder, 'config.yaml'));
    const bytes = temporaryHome();
    writeFileSync(join(bytes, 'config.yaml'), Buffer.from([0x61, 0x3a, 0xff, 0xfe]));

    expect(() => readConfiguration(folder)).toThrow('config.yaml: is a folder and not a file');
    expect(() => readConfiguration(bytes)).toThrow('config.yaml: is not UTF-8 text');
  });
});

describe('a setting that gives up a promise', () => {
  test.each([
    ['gateway: { host: 0.0.0.0 }', 'open to the network'],
    ['gateway: { host: "::" }', 'open to the network'],
    ['gateway: { host: holdfast.example }', 'open to the network'],
    ['storage: { synchronous: normal }', 'not a power cut'],
    ['storage: { allow_unsafe_filesystem: true }', 'may be lost'],
  ])('is warned of: %s', (text, words) => {
    const warnings = readConfiguration(homeWith(text)).notices.filter(({ level }) => level === 'warn');

    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });

  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('is not what loopback is: %s', (host) => {
    const { notices } = readConfiguration(homeWith(`gateway: { host: "${host}" }`));

    expect(notices.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});

function homeWith(text: string): string {
  const home = temporaryHome();
  writeFileSync(join(home, 'config.yaml'), text);
  return home;
}

function problemsOf(home: string): readonly string[] {
  try {
    readConfiguration(home);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ key, message }) => `${key ?? ''}: ${message}`);
    throw error;
  }
}
