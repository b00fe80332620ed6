import type { Program } from './program.js';

/** Codex. Its servers are in a TOML file, which Keelson does not read. */
export const codex: Program = {
  id: 'codex',
  name: 'Codex',
  version: '0.1x',
  read: '2026-11',
};
