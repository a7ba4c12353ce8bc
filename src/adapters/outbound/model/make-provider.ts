import { anthropicWire } from './anthropic-wire.ts';
import { googleWire } from './google-wire.ts';
import { openAiCompatibleWire } from './openai-compatible-wire.ts';
import { openAiChatWire, openAiResponsesWire } from './openai-wires.ts';
import type { Wire } from './wire.ts';
import { makeWireProvider } from './wire-provider.ts';
import type { WireProvider, WireProviderOptions } from './wire-provider.ts';

/** The interfaces that the gateway speaks. */
export type WireName = 'openai-chat' | 'openai-responses' | 'openai-compatible' | 'anthropic' | 'google';

const wires: Readonly<Record<WireName, Wire>> = {
  'openai-chat': openAiChatWire,
  'openai-responses': openAiResponsesWire,
  'openai-compatible': openAiCompatibleWire,
  anthropic: anthropicWire,
  google: googleWire,
};

/** A provider at one address that speaks the named wire. */
export function makeProvider(wire: WireName, options: WireProviderOptions): WireProvider {
  return makeWireProvider(wires[wire], options);
}
