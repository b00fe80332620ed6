import { ensureBuilt } from '../../scripts/ensure-built.mjs';

/** Global setup of the package tests: builds `dist` if it is missing or outdated. */
export default function setup(): void {
  ensureBuilt();
}
