import type { LoaderHost } from '../lifecycle/lifecycle.js';
import {
  createCallRecorder,
  createGates,
  createResultGate,
  createSessionHooks,
  createSubagentHooks,
} from './events/lifecycles.js';
import type { HookParts } from './events/parts.js';
import { ALL_EVENTS } from './hook/event.js';
import type { HookRegistry } from './hook/registry.js';

/** Installs lifecycle hooks for the events that have shell hooks, and updates them with the registry. */
export class Installation {
  private shape = '';
  private sessions: (() => void) | undefined = undefined;
  private gates: (() => void) | undefined = undefined;
  private results: (() => void) | undefined = undefined;
  private reached: (() => void) | undefined = undefined;
  private subagents: (() => void) | undefined = undefined;

  constructor(
    private readonly host: LoaderHost,
    private readonly parts: HookParts,
    private readonly registry: HookRegistry,
  ) {}

  update(): void {
    const events = new Set(ALL_EVENTS.filter((event) => this.registry.hooksOf(event).length > 0));
    const { host, parts } = this;
    const shape = [...events].join();
    if (shape === this.shape) return;
    this.shape = shape;
    this.sessions = place(host, this.sessions, createSessionHooks(events, parts));
    this.gates = place(host, this.gates, events.size > 0 ? createGates(events, parts) : undefined);
    this.results = place(host, this.results, events.has('after_tool') ? createResultGate(parts) : undefined);
    this.subagents = place(host, this.subagents, createSubagentHooks(events, parts));
    const speaksOfCalls = events.has('after_tool') || events.has('after_agent');
    this.reached = place(host, this.reached, speaksOfCalls ? createCallRecorder(parts) : undefined);
  }
}

/** Removes the installed lifecycle, and installs `lifecycle` in its place if it is defined. */
function place(
  host: LoaderHost,
  before: (() => void) | undefined,
  lifecycle: Parameters<LoaderHost['use']>[0] | undefined,
): (() => void) | undefined {
  if (lifecycle !== undefined) return host.use(lifecycle, before);
  before?.();
  return undefined;
}
