import { type ExtensionPackageServer, takenText } from './active/installed-servers.js';
import type { PreparedExtension } from './active/preparation.js';
import type { EnableChoices } from './enable-choices.js';
import type { ExtensionPackage } from './extension.js';
import type { ExtensionPackageStatus } from './status.js';

/** The data that `extensionStatus` combines. */
export interface ExtensionKnowledge {
  readonly choices: EnableChoices;
  /** Undefined if the extension package is disabled. */
  readonly prepared: PreparedExtension | undefined;
  readonly servers: readonly ExtensionPackageServer[];
}

/** Returns the status of an extension package for `status()`. */
export function extensionStatus(extension: ExtensionPackage, known: ExtensionKnowledge): ExtensionPackageStatus {
  const { name, version, description, scope, format, root } = extension;
  const { choices, prepared, servers } = known;
  const isWanted = choices.isWanted(extension);
  const blocked = prepared?.blocked;
  const denied = [...(prepared?.denied ?? []), ...servers.flatMap(waiting)];
  const isActive = isWanted && prepared !== undefined && blocked === undefined;
  return {
    ...{ name, version, description, scope, format, root, servers },
    enabled: isWanted && blocked === undefined,
    state: stateOf({ isWanted, isActive, isPending: denied.length > 0 }),
    approved: isActive && denied.length === 0,
    reasons: isWanted
      ? [...(blocked === undefined ? [] : [blocked]), ...denied, ...servers.flatMap(leftOut)]
      : [choices.isLost ? 'It is disabled: earlier choices were lost with a damaged file' : 'It is disabled'],
    hooks: isActive ? prepared.hooks.map(({ event, name: hook, command }) => ({ event, name: hook, command })) : [],
    settings: extension.settings.map((setting) => ({
      ...{ name: setting.name, isSet: prepared?.settings.values.has(setting.name) ?? false },
      ...(setting.envVar !== undefined && { envVar: setting.envVar }),
    })),
    skills: isActive ? prepared.texts.skills.map(({ skill }) => skill.id) : [],
  };
}

function stateOf({ isWanted, isActive, isPending }: Record<string, boolean>): ExtensionPackageStatus['state'] {
  if (!isWanted) return 'disabled';
  if (!isActive) return 'blocked';
  return isPending ? 'pending' : 'active';
}

function waiting({ name, state }: ExtensionPackageServer): string[] {
  return state === 'pending' || state === 'denied' ? [`The server "${name}" is not approved`] : [];
}

function leftOut({ name, id, state }: ExtensionPackageServer): string[] {
  return state === 'left-out' ? [`The server "${name}" is left out: ${takenText(id)}`] : [];
}
