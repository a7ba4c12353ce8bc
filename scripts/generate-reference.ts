/** Writes the reference of the protocol: `npx tsx scripts/generate-reference.ts`. A test says when it is out of date. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { renderErrors, renderEvents, renderMethods, renderOpenRpc } from './protocol-reference.ts';

const folder = join(import.meta.dirname, '../docs/reference');

writeFileSync(join(folder, 'methods.md'), renderMethods());
writeFileSync(join(folder, 'errors.md'), renderErrors());
writeFileSync(join(folder, 'events.md'), renderEvents());
writeFileSync(join(folder, 'openrpc.json'), await format(renderOpenRpc(), { parser: 'json', printWidth: 120 }));
