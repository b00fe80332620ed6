import { join } from 'node:path';
import { type HookRegistration, HookRegistry } from 'keelson/shell-hooks';
import type { ApprovalRequest, Approver } from 'keelson/trust';
import { type HookLab, hooksIn } from './hook-lab.js';

/** A script that records each of its runs. */
export const RUN = '#!/bin/sh\ncat > /dev/null\necho ran >> ran\n';

/** Returns the number of runs of the script. */
export function runsIn(lab: HookLab): number {
  return lab.has('ran') ? lab.read('ran').trim().split('\n').length : 0;
}

/** Creates a workspace hook, and records the approval requests for it. */
export function hookOfWorkspace(
  lab: HookLab,
  more: Partial<HookRegistration> = {},
  answer: (request: ApprovalRequest) => unknown = () => true,
) {
  const asked: ApprovalRequest[] = [];
  const approve = ((request) => {
    asked.push(request);
    return answer(request);
  }) as Approver;
  const hook = (changed: Partial<HookRegistration> = {}): HookRegistration => ({
    ...{ event: 'before_tool', name: 'guard', command: './guard.sh', scope: 'workspace' },
    source: join(lab.workspace, '.keelson/hooks.json'),
    ...more,
    ...changed,
  });
  const start = (changed: Partial<HookRegistration> = {}, approver: Approver | undefined = approve) => {
    const registry = new HookRegistry();
    registry.register(hook(changed));
    return hooksIn(lab, { registry, approve: approver });
  };
  return { asked, start };
}
