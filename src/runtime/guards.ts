import type { Manifests } from '../manifest/manifest.js';
import { isGateEvent, isHookEvent } from '../programs/hook-event.js';
import type { GuardStatus } from '../shell-hooks/shell-hooks.js';

/** Returns the guards of inactive extension packages, and one entry for each package or hook that could not be read. */
export function packageGuards(extensions: Manifests): readonly GuardStatus[] {
  const { extensions: statuses, diagnostics } = extensions.status();
  const inactive = statuses.filter(({ state }) => state === 'disabled' || state === 'blocked');
  const blocked = inactive.flatMap(({ name, reasons }) => {
    const extension = extensions.extensions().find((one) => one.name === name);
    const guards = (extension?.hooks ?? []).filter(({ event }) => isHookEvent(event) && isGateEvent(event));
    return guards.map(
      (hook): GuardStatus => ({
        ...{ name: hook.name, event: hook.event, source: extension?.source, extension: name },
        ...{ state: 'blocked', reason: reasons.join('; ') },
      }),
    );
  });
  const lost = diagnostics.filter(({ level }) => level === 'error');
  return [
    ...blocked,
    ...lost.map(
      ({ message, source, extension }): GuardStatus => ({
        ...{ name: extension ?? source, source, extension, state: 'error', reason: message },
      }),
    ),
  ];
}

/** Returns a line with the number of guards in each state. Undefined if there are no guards. */
export function guardsText(guards: readonly GuardStatus[]): string | undefined {
  if (guards.length === 0) return undefined;
  const states = ['active', 'in-doubt', 'blocked', 'error'] as const;
  const counts = states.map((state) => [state, guards.filter((guard) => guard.state === state).length] as const);
  const parts = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  return `Guards: ${parts.join(', ')}.`;
}
