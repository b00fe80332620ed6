import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ensureBuilt } from '../../../scripts/ensure-built.mjs';
import { pack } from '../../../scripts/packed-project.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The path of the packed library. */
    readonly tarball: string;
  }
}

/** Global setup of the package tests: builds `dist` if it is missing or outdated, and packs the library once. */
export function setup(project: TestProject): () => void {
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'keelson-tarball-'));
  project.provide('tarball', pack(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}
