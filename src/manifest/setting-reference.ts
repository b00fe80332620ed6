import type { SettingDefinition } from './extension.js';

const PREFIX = String.raw`(?:settings?|user_config|config|env)\s*[.:]\s*`;
const REFERENCE = new RegExp(
  String.raw`\$\{\s*(${PREFIX})?([^{}]{1,128}?)\s*\}|\{\{\s*(${PREFIX})?([^{}]{1,128}?)\s*\}\}`,
  'g',
);

/** A place in a text that asks for the value of a setting. */
export interface SettingReference {
  readonly text: string;
  readonly setting: SettingDefinition;
  /** Whether it may be no more than a variable of the environment, which a shell looks up by itself. */
  readonly isVariable: boolean;
}

/**
 * The settings that a text names as `${name}`, `{{name}}`, `${settings.name}`, `${user_config.name}` or their like, by
 * name or by variable, whatever the case and the separators. Values are never put into a text, so whoever finds one of
 * these refuses it.
 */
export function settingReferences(text: string, settings: readonly SettingDefinition[]): readonly SettingReference[] {
  if (settings.length === 0) return [];
  const known = new Map(
    settings.flatMap((setting) =>
      [setting.name, setting.envVar].flatMap((name) => (name === undefined ? [] : [[plain(name), setting] as const])),
    ),
  );
  return [...text.matchAll(REFERENCE)].flatMap(([whole, prefix, name, otherPrefix, otherName]) => {
    const setting = known.get(plain(name ?? otherName ?? ''));
    if (setting === undefined) return [];
    const isVariable = whole.startsWith('$') && (prefix ?? otherPrefix) === undefined && /^\$\{\w+\}$/.test(whole);
    return [{ text: whole, setting, isVariable }];
  });
}

/** A name without case and separators. */
export function plain(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
