import { readConfiguration, type Configuration } from '../../config/configuration.ts';
import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { resolveHome } from '../../config/home.ts';
import { defaultTarget } from '../../config/model-endpoints.ts';
import { orRefused } from '../refused-configuration.ts';
import type { CliIo } from '../io.ts';
import type { HomeOptions } from '../options.ts';
import { printable } from '../printable.ts';

/** Judges the configuration as `serve` would, without creating anything. */
export function runConfigCheck(io: CliIo, { home, json }: HomeOptions): ExitCode {
  const configuration = orRefused(() => readConfiguration(resolveHome(home, io.environment)));
  io.stdout.write(
    json === true ? `${JSON.stringify(asDocument(configuration), null, 2)}\n` : `${printable(asText(configuration))}\n`,
  );
  return exitCodes.ok;
}

/** No key and no header is in it: only listed fields leave. */
function asDocument({ home, file, found, config, notices, endpoints }: Configuration) {
  return {
    ok: true,
    home,
    file,
    found,
    model: defaultTarget(config),
    endpoints: endpoints.map(({ provider, kind, baseUrl, apiKeyVariable, apiKey }) => ({
      provider,
      kind,
      base_url: baseUrl,
      api_key_env: apiKeyVariable,
      api_key_set: apiKey !== null,
    })),
    notices,
  };
}

function asText({ file, found, config, notices }: Configuration): string {
  const { provider, model, baseUrl } = defaultTarget(config);
  return [
    found ? `${file} is fine.` : `There is no ${file}; everything has its default.`,
    `Model: ${model} (${provider}${baseUrl === null ? '' : ` at ${baseUrl}`})`,
    ...notices.map(({ level, message }) => `${level === 'warn' ? 'Warning' : 'Note'}: ${message}`),
  ].join('\n');
}
