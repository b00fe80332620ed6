import type { AgentLifecycle } from 'keelson';

type Hook<Name extends keyof AgentLifecycle> = NonNullable<AgentLifecycle[Name]>;

/** One model call or tool call, as the audit saw it. */
export interface AuditEntry {
  readonly run: string;
  readonly turn: number;
  readonly kind: 'model' | 'tool';
  readonly name: string;
  readonly ms: number;
  readonly failed: boolean;
}

/** Writes down what the agent does. Changes nothing. */
export class AuditLog implements AgentLifecycle {
  readonly name = 'audit';
  /** Outermost: it times the other parts too, and sees what they made of a call. */
  readonly priority = 90;
  readonly entries: AuditEntry[] = [];
  /** How often each hook fired. */
  readonly fired = new Map<string, number>();

  readonly beforeAgent = (): void => this.count('beforeAgent');
  readonly beforeModel = (): void => this.count('beforeModel');
  readonly afterModel = (): void => this.count('afterModel');
  readonly afterAgent = (): void => this.count('afterAgent');
  readonly onError = (): void => this.count('onError');

  readonly wrapModelCall: Hook<'wrapModelCall'> = async (request, next) => {
    this.count('wrapModelCall');
    const { run, model } = request;
    const start = performance.now();
    const note = (failed: boolean) => this.note({ ...placeOf(run), kind: 'model', name: model.id, failed }, start);
    try {
      const response = await next(request);
      note(false);
      return response;
    } catch (error) {
      note(true);
      throw error;
    }
  };

  readonly wrapToolCall: Hook<'wrapToolCall'> = async (call, next) => {
    this.count('wrapToolCall');
    const start = performance.now();
    const result = await next(call);
    this.note({ ...placeOf(call.run), kind: 'tool', name: call.name, failed: result.isError === true }, start);
    return result;
  };

  private note(entry: Omit<AuditEntry, 'ms'>, start: number): void {
    this.entries.push({ ...entry, ms: performance.now() - start });
  }

  private count(hook: string): void {
    this.fired.set(hook, (this.fired.get(hook) ?? 0) + 1);
  }
}

function placeOf({ id, turn }: { readonly id: string; readonly turn: number }): { run: string; turn: number } {
  return { run: id, turn };
}
