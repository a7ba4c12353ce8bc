import { failureOf } from '../../../core/domain/model/failure.ts';
import type { Failure } from '../../../core/domain/model/failure.ts';
import { ConnectTimeout } from './http-transport.ts';

/** Why no answer came at all. `origin` is shown to the operator; it holds no key. */
export function connectionFailure(error: unknown, origin: string): Failure {
  if (error instanceof ConnectTimeout) {
    return failureOf('unavailable', `${origin} does not accept a connection; check base_url and the network.`, {
      retryable: true,
    });
  }
  const code = errorCode(error);
  if (code.startsWith('HPE_'))
    return failureOf('not_an_api', `${origin} does not speak HTTP (${code}); check base_url.`);
  if (isCertificateProblem(code)) {
    return failureOf('configuration', `${origin} has no certificate that can be trusted, or speaks no TLS (${code}).`);
  }
  const words = connectionWords[code];
  return words === undefined
    ? failureOf('unavailable', `The connection to ${origin} broke before an answer came (${code}).`, {
        retryable: true,
      })
    : failureOf('unavailable', `${origin} can't be reached: ${words} (${code}).`, { retryable: true });
}

const connectionWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: "the host's name is not known",
  EAI_AGAIN: "the host's name can't be resolved right now",
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no network',
  ETIMEDOUT: 'the connection timed out',
};

function isCertificateProblem(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|EPROTO|ERR_TLS|ERR_SSL/.test(code);
}

export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // Node tries several addresses of one name and reports all of them.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code: unknown = typeof inner === 'object' && inner !== null && 'code' in inner ? inner.code : undefined;
  return typeof code === 'string' ? code : error.name;
}
