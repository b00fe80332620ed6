/**
 * Skills that belong to no extension package: folders with a `SKILL.md`, a registry of them, and the lifecycle that
 * offers them to the model. `keelson/manifest` does all of this for the skills of extension packages.
 *
 * @packageDocumentation
 */
export { SkillParametersError, SkillUnavailableError, SkillUnknownError } from './error.js';
export { type LoadedSkills, type LoadSkillsOptions, loadSkills } from './load-skills.js';
export type { SkillArguments } from './prompt.js';
export { SkillRegistry, type Skills } from './registry.js';
export type { Skill, SkillBody, SkillEntry, SkillParameter, SkillScope } from './skill.js';
export { skillLifecycle } from './tool.js';
