import { ensureBuilt } from '../../scripts/ensure-built.mjs';

/** Vitest's global set-up of the package tests: they look at `dist`, so it has to be there and to be fresh. */
export default function setup(): void {
  ensureBuilt();
}
