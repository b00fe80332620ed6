import type { Clock } from '../../internal/clock.js';
import type { Report } from '../hook/diagnostic.js';
import type { HookRegistry } from '../hook/registry.js';
import type { HookMachineOptions, ShellHooksSettings } from '../options.js';
import type { Transcripts } from '../transcript/transcripts.js';
import type { HookApprovals } from './approval.js';
import type { BackgroundHooks } from './background.js';
import type { HookHost, HookReports } from './reports.js';

/** The settings and objects that all hooks of one loader share. */
export interface HookSystem extends ShellHooksSettings, HookHost, Pick<HookMachineOptions, 'spawn' | 'fetch'> {
  readonly clock: Clock;
  readonly registry: HookRegistry;
  readonly approvals: HookApprovals;
  readonly reports: HookReports;
  readonly background: BackgroundHooks;
  readonly report: Report;
  /** Undefined if hooks get no transcript. */
  readonly transcripts: Transcripts | undefined;
}
