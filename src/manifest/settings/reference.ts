import { fold } from '../../internal/names-text.js';
import type { SettingDefinition } from '../extension.js';

const REFERENCE = /\$\{([^{}]{1,200})\}|\{\{([^{}]{1,200})\}\}/g;
const PREFIX = /^\s*(?:settings?|user_config|config|env)\s*[.:]/;

interface SettingReference {
  readonly text: string;
  readonly setting: SettingDefinition;
  /** True if the reference has the form of an environment variable, which a shell expands itself. */
  readonly isVariable: boolean;
}

/**
 * Finds references to settings in a string, such as `${name}`, `{{name}}`, `${settings.name}` and
 * `${user_config.name}`. A setting is found by its name or its variable, ignoring case and separators. Callers refuse
 * references, because values are never inserted into strings.
 */
export type ReferenceFinder = (text: string) => readonly SettingReference[];

/** Creates a finder for references to the given settings. */
export function createReferenceFinder(settings: readonly SettingDefinition[]): ReferenceFinder {
  const known = new Map(
    settings.flatMap((setting) =>
      [setting.name, setting.envVar].flatMap((name) => (name === undefined ? [] : [[fold(name), setting] as const])),
    ),
  );
  return (text) =>
    [...text.matchAll(REFERENCE)].flatMap(([whole, inner, otherInner]) => {
      const setting = known.get(fold((inner ?? otherInner ?? '').replace(PREFIX, '')));
      return setting === undefined ? [] : [{ text: whole, setting, isVariable: /^\$\{\w+\}$/.test(whole) }];
    });
}
