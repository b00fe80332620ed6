import type { TagHandler } from './definition.js';
import { actsIn, type Registration } from './registration.js';

/** A handler of tags with its extension. */
export interface HandlerSite {
  readonly registration: Registration;
  readonly handler: TagHandler;
}

/** The extensions of a registry by their callbacks. Each list has the order in which they are called. */
export interface CallbackPlan {
  readonly registrations: readonly Registration[];
  readonly input: readonly Registration[];
  readonly output: readonly Registration[];
  readonly plain: readonly Registration[];
  readonly handlers: readonly HandlerSite[];
  /** Sorted by id. */
  readonly additions: readonly Registration[];
  /** Sorted by priority, then by id, so that the order of registration does not change the request. */
  readonly guidance: readonly Registration[];
}

/** The registered extensions, and the plan of their callbacks. */
export class Registrations {
  private readonly entries = new Map<string, Registration>();
  private planned: CallbackPlan | undefined = undefined;

  /** The plan with all extensions, including extensions of a single session. */
  get plan(): CallbackPlan {
    // The sort keeps the order of registration among equal priorities.
    this.planned ??= createPlan(this.list().sort((a, b) => b.extension.priority - a.extension.priority));
    return this.planned;
  }

  get(id: string): Registration | undefined {
    return this.entries.get(id);
  }

  list(): Registration[] {
    return [...this.entries.values()];
  }

  add(registration: Registration): void {
    this.entries.set(registration.extension.id, registration);
    this.planned = undefined;
  }

  /** Marks the registration as removed, so that no callback of it is called. Returns false if the id is unknown. */
  remove(id: string): boolean {
    const registration = this.entries.get(id);
    if (registration === undefined) return false;
    registration.removed = true;
    this.entries.delete(id);
    this.planned = undefined;
    return true;
  }
}

/** Groups the registrations by the callbacks that they have. Keeps their order, in which the callbacks are called. */
function createPlan(registrations: readonly Registration[]): CallbackPlan {
  const having = (member: 'onInputMessages' | 'onLlmOutput' | 'onPlainText' | 'toolConfig') =>
    registrations.filter(({ extension }) => extension[member] !== undefined);
  const additions = registrations.filter(({ extension }) => extension.promptAdditions.length > 0).sort(byId);
  return {
    registrations,
    input: having('onInputMessages'),
    output: having('onLlmOutput'),
    plain: having('onPlainText'),
    handlers: registrations.flatMap((registration) =>
      registration.handlers.map((handler): HandlerSite => ({ registration, handler })),
    ),
    additions,
    guidance: having('toolConfig').sort((a, b) => b.extension.priority - a.extension.priority || byId(a, b)),
  };
}

/** Returns the plan of a session. Most registries have no extension of a single session, so all runs share one plan. */
export function planFor(plan: CallbackPlan, session: string | undefined): CallbackPlan {
  const { registrations } = plan;
  if (registrations.every((registration) => actsIn(registration, session))) return plan;
  return createPlan(registrations.filter((registration) => actsIn(registration, session)));
}

function byId(a: Registration, b: Registration): number {
  return a.extension.id < b.extension.id ? -1 : 1;
}
