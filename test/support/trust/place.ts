import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AllowedDecision,
  type ApprovalRequest,
  type Approver,
  createTrustGate,
  type DeniedDecision,
  type TrustDecision,
  type TrustGate,
  type TrustGateOptions,
  type TrustItem,
  type VerifiedItem,
} from 'keelson/trust';
import { expect } from 'vitest';
import { realLocation } from '../../../src/process/files/location.js';
import { workspaceRoots } from '../../../src/process/files/workspace.js';
import type { ProcessResult } from '../../../src/process/run-process.js';
import { runProcess } from '../../../src/process/run-process.js';
import type { TrustPlace } from '../../../src/trust/item.js';
import { type KeepingLogger, keepingLogger } from '../agent/silent-logger.js';
import { scratchFolder, script, write } from '../process/scratch.js';

/** A workspace with a hook, a state directory outside of it, and records of prompts and log messages. */
export interface Place {
  readonly root: string;
  readonly workspaceDir: string;
  readonly stateDir: string;
  readonly storePath: string;
  readonly hookPath: string;
  readonly logger: KeepingLogger;
  readonly asked: ApprovalRequest[];
  readonly yes: Approver;
  gate(options?: Partial<TrustGateOptions>): TrustGate;
  hook(more?: Partial<TrustItem>): TrustItem;
  trustPlace(): TrustPlace;
}

export function makePlace(): Place {
  const root = scratchFolder();
  const [workspaceDir, stateDir] = [join(root, 'ws'), join(root, 'home', '.app')];
  mkdirSync(stateDir, { recursive: true });
  const hookPath = script(join(workspaceDir, 'hooks', 'lint.sh'), '#!/bin/sh\necho good\n');
  const source = write(join(workspaceDir, '.app', 'hooks.json'), '{}');
  const asked: ApprovalRequest[] = [];
  const yes: Approver = (request) => {
    asked.push(request);
    return true;
  };
  const logger = keepingLogger();
  return {
    ...{ root, workspaceDir, stateDir, hookPath, asked, yes, logger },
    storePath: join(stateDir, 'trusted-hooks.json'),
    gate: (options = {}) =>
      createTrustGate({ workspaceDir, stateDir, appName: 'app', approve: yes, logger, ...options }),
    hook: (more = {}) => ({
      ...{ kind: 'hook', scope: 'workspace', name: 'lint', event: 'before_tool', source, command: './hooks/lint.sh' },
      ...more,
    }),
    trustPlace: () => ({
      ...{ workspaceDir, stateDir, path: process.env.PATH },
      ...{ workspace: realLocation(workspaceDir), roots: workspaceRoots(workspaceDir) },
      limits: { files: 5_000, bytes: 64 * 1024 * 1024 },
    }),
  };
}

/** Creates an extension package in the workspace, with a hook that runs a helper file. */
export function makeExtension(place: Place): { root: string; helper: string; item: TrustItem } {
  const root = join(place.workspaceDir, '.app', 'extensions', 'ext');
  const helper = write(join(root, 'lib', 'helper.sh'), 'echo good\n');
  script(join(root, 'hook.sh'), '#!/bin/sh\n. ./lib/helper.sh\n');
  const source = write(join(root, 'manifest.json'), '{}');
  const item = { kind: 'hook', scope: 'workspace', name: 'hook', event: 'before_tool', extension: 'ext' } as const;
  return { root, helper, item: { ...item, source, root, command: './hook.sh' } };
}

export function allowed(decision: TrustDecision): AllowedDecision {
  if (!decision.allowed) expect.unreachable(decision.message);
  return decision as AllowedDecision;
}

export function verified(result: VerifiedItem | DeniedDecision): VerifiedItem {
  if (!result.allowed) expect.unreachable(result.message);
  return result as VerifiedItem;
}

/** Starts a verified item. */
export function start({ launch }: VerifiedItem): Promise<ProcessResult> {
  if (launch === undefined) return expect.unreachable('the item has no command');
  return runProcess({ ...launch, env: { PATH: process.env.PATH ?? '', ...launch.env }, timeoutMs: 5_000 });
}

/** Authorizes, verifies and runs an item. Returns its output, or the reason why it was denied. */
export async function attempt(gate: TrustGate, item: TrustItem): Promise<string> {
  const decision = await gate.authorize(item);
  if (!decision.allowed) return decision.reason;
  const result = await gate.verify(decision);
  return result.allowed ? (await start(result)).stdout.trim() : result.reason;
}
