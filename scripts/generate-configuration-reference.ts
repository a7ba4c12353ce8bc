/** Writes `docs/reference/configuration.md` and `.env.example`. A test compares both with what this would write. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderConfigurationReference, renderEnvironmentExample } from './configuration-reference.ts';

const root = join(import.meta.dirname, '..');

mkdirSync(join(root, 'docs/reference'), { recursive: true });
writeFileSync(join(root, 'docs/reference/configuration.md'), renderConfigurationReference());
writeFileSync(join(root, '.env.example'), renderEnvironmentExample());
