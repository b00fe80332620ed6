/**
 * Loads skills from directories with a `SKILL.md`, keeps them in a registry, and offers them to the model with a
 * lifecycle. For skills of extension packages use `keelson/manifest`, which does all of this.
 *
 * @packageDocumentation
 */
export { SkillParametersError, SkillUnavailableError, SkillUnknownError } from './error.js';
export { type LoadedSkills, type LoadSkillsOptions, loadSkills, type SkillRoot } from './load-skills.js';
export type { SkillArguments } from './prompt.js';
export { SkillRegistry, type Skills } from './registry.js';
export type { Skill, SkillBody } from './skill.js';
export { skillLifecycle } from './tool.js';
