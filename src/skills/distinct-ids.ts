import { basename, dirname } from 'node:path';
import type { SkillEntry } from './skill.js';

/**
 * Returns the skills with distinct ids. Skills of one name are told apart by their directories: the id contains the
 * name of the directory, with the names of the directories above it as far as necessary. `name` stays the same.
 */
export function withDistinctIds(entries: readonly SkillEntry[]): readonly SkillEntry[] {
  const counts = new Map<string, number>();
  for (const { skill } of entries) counts.set(skill.id, (counts.get(skill.id) ?? 0) + 1);
  const taken = new Set(entries.flatMap(({ skill: { id } }) => (counts.get(id) === 1 ? [id] : [])));
  return entries.map((entry) => {
    const { skill } = entry;
    if (counts.get(skill.id) === 1) return entry;
    const prefix = skill.extension === undefined ? '' : `${skill.extension}:`;
    const label = labelsOf(skill).find((it) => !taken.has(prefix + it)) ?? skill.source;
    taken.add(prefix + label);
    return { ...entry, skill: { ...skill, id: prefix + label } };
  });
}

/** Yields `moor`, `skills-moor`, `agents-skills-moor` for `.agents/skills/moor/SKILL.md`. A skill of a manifest keeps its name first. */
function labelsOf({ name, prompt, source }: SkillEntry['skill']): readonly string[] {
  const labels = prompt === undefined ? [] : [name];
  let label = '';
  for (let folder = dirname(source); folder !== dirname(folder); folder = dirname(folder)) {
    const step = basename(folder)
      .normalize('NFKC')
      .replace(/^\.+/, '')
      .replace(/[\p{C}\p{Zl}\p{Zp}:]/gu, '-');
    label = label === '' ? step : `${step}-${label}`;
    labels.push(label);
  }
  return labels;
}
