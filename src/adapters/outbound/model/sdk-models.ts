import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamResult } from '@ai-sdk/provider';
import type { Wire, WireAddress } from './wire.ts';

type Fetch = typeof globalThis.fetch;

/** The SDK's own models of one address. */
export interface SdkModels {
  /** Starts one request, which goes out through its own `fetch`. The signal names the request and must be its own. */
  doStream(request: {
    readonly model: string;
    readonly options: LanguageModelV3CallOptions;
    readonly fetch: Fetch;
    readonly signal: AbortSignal;
  }): PromiseLike<LanguageModelV3StreamResult>;
}

/** Clients may name models; more of them than this are made again. */
const maxModels = 64;

/**
 * Makes each model once: with the SDK that costs more than a small answer, as it builds the schema of its frames anew.
 * The SDK wants one fetch for a model and hands a request's signal through to it, so that the signal says whose it is.
 */
export function makeSdkModels(wire: Pick<Wire, 'model'>, address: Omit<WireAddress, 'fetch'>): SdkModels {
  const models = new Map<string, LanguageModelV3>();
  const fetches = new WeakMap<AbortSignal, Fetch>();

  const fetch: Fetch = async (input, init) => {
    const own = init?.signal ? fetches.get(init.signal) : undefined;
    if (own === undefined) throw new Error('The SDK sent a request that nobody has asked for.');
    return own(input, init);
  };

  function modelOf(name: string): LanguageModelV3 {
    const known = models.get(name);
    if (known !== undefined) return known;
    if (models.size >= maxModels) models.clear();
    const made = wire.model(name, { ...address, fetch });
    models.set(name, made);
    return made;
  }

  return {
    doStream({ model, options, fetch: own, signal }) {
      fetches.set(signal, own);
      return modelOf(model).doStream({ ...options, abortSignal: signal });
    },
  };
}
